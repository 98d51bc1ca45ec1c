// Opens report pages in Chromium as a reader would and looks for what is broken.
//
// usage: node check.mjs CHROMIUM OUT PAGE.. ; screenshots go to the folder OUT.
import { chromium } from "playwright-core";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const [program, out, ...pages] = process.argv.slice(2);
const LARGEST = 2_000_000;
const problems = [];
let charts = 0;
let slowest = 0;

const browser = await chromium.launch({
  executablePath: program,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});

for (const page of pages) {
  const bad = (what) => problems.push(`${page}: ${what}`);
  if (statSync(page).size > LARGEST) bad(`larger than ${LARGEST} bytes`);
  const name = page.split("/").pop().replace(/\.html$/, "");
  // Each colour and each width once; all of them for the page that holds everything.
  const views = name === "full" || pages.length < 3
    ? [["light", 1200], ["dark", 1200], ["light", 390], ["dark", 390]]
    : [["light", 1200], ["dark", 390]];
  const fullPage = views.length > 2;
  for (const [scheme, width] of views) {
    const context = await browser.newContext({
      viewport: { width, height: 900 },
      colorScheme: scheme,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const tab = await context.newPage();
    tab.on("console", (message) => bad(`console: ${message.text()}`));
    tab.on("pageerror", (error) => bad(`script: ${error.message}`));
    tab.on("dialog", (dialog) => {
      bad(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    const address = pathToFileURL(page).href;
    tab.on("request", (request) => {
      const url = request.url();
      const own = url === address || url.startsWith("data:") || url.startsWith("blob:");
      if (!own) bad(`asks for ${url}`);
    });
    await tab.goto(address);
    const wide = await tab.evaluate(() => {
      const most = document.documentElement.clientWidth;
      return document.documentElement.scrollWidth > most
        ? [...document.querySelectorAll("body *")]
            .filter((e) => e.getBoundingClientRect().right > most + 1)
            .filter((e) => !e.closest(".scroll, pre, svg"))
            .map((e) => `${e.tagName}.${e.className}`).slice(0, 5).join(" ") || "something"
        : "";
    });
    if (wide) bad(`overflows at ${width} px: ${wide}`);
    await tab.screenshot({ path: `${out}/${name}-${scheme}-${width}.png`, fullPage });
    await accessible(tab, scheme, bad);
    if (scheme === "light" && width === 1200) {
      charts += await look(tab, bad);
      const paint = await tab.evaluate(() =>
        performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0);
      slowest = Math.max(slowest, paint);
    }
    await context.close();
  }
  await withoutScript(page, bad);
}
await browser.close();

if (charts === 0) problems.push("no page has a chart");
for (const problem of problems) console.error(problem);
console.log(`${charts} charts on ${pages.length} pages, ${problems.length} problems; ` +
  `slowest first paint ${slowest.toFixed(0)} ms`);
process.exit(problems.length === 0 ? 0 : 1);

// Marks and tables agree; hover, legend, copy and keyboard work.
async function look(tab, bad) {
  const found = await tab.evaluate(() => {
    const broken = [];
    const figures = [...document.querySelectorAll("figure")];
    for (const figure of figures) {
      const name = figure.querySelector("figcaption strong").textContent;
      const cells = new Set([...figure.querySelectorAll("td")].map((cell) => cell.textContent));
      const marks = [...figure.querySelectorAll(".picture .mark")];
      const lines = [...figure.querySelectorAll(".picture path.line")];
      if (marks.length + lines.length === 0) broken.push(`${name}: nothing is drawn`);
      if (cells.size === 0) broken.push(`${name}: the table is empty`);
      for (const mark of marks) {
        const tip = mark.querySelector("title")?.textContent ?? "";
        // The value ends the words of a mark.
        const value = tip.split(/, |: /).pop();
        if (!cells.has(value)) broken.push(`${name}: "${value}" of "${tip}" is not in the table`);
      }
      const points = lines.reduce((n, line) => n + line.getAttribute("d").match(/[ML]/g).length, 0);
      const rows = figure.querySelectorAll("tbody tr").length;
      if (marks.length === 0 && points !== rows) {
        broken.push(`${name}: ${points} points and ${rows} rows`);
      }
      for (const shape of figure.querySelectorAll(".picture *")) {
        for (const { name: key, value } of shape.attributes) {
          if (/NaN|inf/i.test(value) && key !== "class") broken.push(`${name}: ${key}=${value}`);
        }
      }
    }
    return { broken, charts: figures.length };
  });
  found.broken.forEach(bad);
  for (const figure of await tab.locator("figure").all()) {
    // The nearest mark is told, wherever the pointer stands in the picture.
    await figure.locator(".picture").hover();
    const words = await figure.locator(".tip").textContent();
    const name = await figure.locator("figcaption strong").textContent();
    if (!words) bad(`${name}: hovering over a mark shows nothing`);
    const entry = figure.locator(".legend button").first();
    if (!(await entry.count())) continue;
    await entry.focus();
    await tab.keyboard.press("Enter");
    if ((await entry.getAttribute("aria-pressed")) !== "false") bad(`${name}: the legend is stuck`);
    const hidden = await figure.locator("g.series.off").count();
    if (hidden === 0) bad(`${name}: the legend leaves its series visible`);
    await tab.keyboard.press("Enter");
    if (await figure.locator("g.series.off").count()) bad(`${name}: a series stays hidden`);
  }
  await tab.locator("#copy").click();
  await tab.waitForFunction(() => document.getElementById("said").textContent !== "");
  const copied = await tab.evaluate(() => navigator.clipboard.readText());
  const markdown = await tab.locator("#markdown").textContent();
  if (copied.trim() !== markdown.trim()) bad("what is copied is not the Markdown of the report");
  const raw = await tab.evaluate(async () => {
    const element = document.getElementById("raw-result");
    try {
      if (element.type === "application/json") {
        JSON.parse(element.textContent);
      } else {
        const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
        const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
        await new Response(plain).json();
      }
      return true;
    } catch {
      return false;
    }
  });
  if (!raw) bad("the raw result is no JSON");
  return found.charts;
}

// axe-core's rules: nothing serious, in either scheme.
async function accessible(tab, scheme, bad) {
  await tab.evaluate(axe);
  const found = await tab.evaluate(async () => {
    const result = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return result.violations
      .filter((one) => ["serious", "critical"].includes(one.impact))
      .map((one) => `${one.id} at ${one.nodes[0]?.target} (${one.nodes.length} places)`);
  });
  for (const one of found) bad(`axe-core, ${scheme}: ${one}`);
}

// Without script the page is complete and shows no dead buttons.
async function withoutScript(page, bad) {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const tab = await context.newPage();
  await tab.goto(pathToFileURL(page).href);
  if (await tab.locator("#copy").isVisible()) bad("a button that needs script shows without it");
  if (!(await tab.locator("h1").isVisible())) bad("there is no heading without script");
  await context.close();
}
