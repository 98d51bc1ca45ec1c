// Opens report pages in Chromium as a reader would and looks for what is broken.
//
// usage: node check.mjs CHROMIUM OUT PAGE.. ; screenshots go to the folder OUT. A page is a file, or
// an address below the link of `assay serve`.
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

// A page of the server may ask for what is below the same secret; a file asks for nothing.
const served = (page) => page.startsWith("http://");
const addressOf = (page) => (served(page) ? page : pathToFileURL(page).href);
const nameOf = (page) => {
  if (!served(page)) return page.split("/").pop().replace(/\.html$/, "");
  const inner = page.split("/").slice(4).join("/");
  return `site-${inner.split(/[^a-z]/)[0] || (inner ? "filtered" : "history")}`;
};

for (const page of pages) {
  const name = nameOf(page);
  const bad = (what) => problems.push(`${name}: ${what}`);
  const own = served(page) ? page.split("/").slice(0, 4).join("/") + "/" : addressOf(page);
  if (!served(page) && statSync(page).size > LARGEST) bad(`larger than ${LARGEST} bytes`);
  // Each colour and each width once; all of them for the pages that hold everything.
  const views = name === "full" || served(page) || pages.length < 3
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
    tab.on("request", (request) => {
      const url = request.url();
      const within = served(page) ? url.startsWith(own) : url === own;
      if (!within && !/^(data|blob):/.test(url)) bad(`asks for ${url}`);
    });
    await tab.goto(addressOf(page));
    if (name === "site-live") await moving(tab, bad);
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
      if (name === "site-history") await walk(tab, bad);
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
  // Lists and the page of what runs now have nothing to copy.
  if (!(await tab.locator("#copy").count())) return found.charts;
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

// The page of what runs now is drawn, and goes on.
async function moving(tab, bad) {
  const lines = () =>
    [...document.querySelectorAll("path.line")].map((line) => line.getAttribute("d")).join();
  try {
    await tab.waitForFunction(() => document.querySelectorAll("figure").length >= 3);
    const before = await tab.evaluate(lines);
    // The policy of the page lets nobody hand it code, so that it is asked again and again.
    for (let left = 100; (await tab.evaluate(lines)) === before; left -= 1) {
      if (left === 0) throw new Error("they stay the same");
      await tab.waitForTimeout(100);
    }
  } catch (error) {
    bad(`the charts do not go on: ${error.message}`);
  }
}

// From the list to a run, to two runs side by side, and to a list of fewer.
async function walk(tab, bad) {
  const start = tab.url();
  const all = await tab.locator(".runs tbody tr").count();
  await tab.locator(".runs a").first().click();
  if (!(await tab.locator("#raw-result").count())) bad("a link of the list leads to no report");
  await tab.goto(start);
  const rows = tab.locator(".runs tbody tr");
  await rows.nth(1).locator("input[name=a]").check();
  await rows.nth(0).locator("input[name=b]").check();
  await tab.getByRole("button", { name: "Compare A with B" }).click();
  if (!(await tab.locator("h1").textContent()).includes(" against ")) bad("nothing is compared");
  await tab.getByRole("link", { name: "History" }).click();
  await tab.getByLabel("Tag").fill("old");
  await tab.getByRole("button", { name: "Show" }).click();
  const fewer = await tab.locator(".runs tbody tr").count();
  if (!(fewer > 0 && fewer < all)) bad(`the filter leaves ${fewer} of ${all} runs`);
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
  await tab.goto(addressOf(page));
  if (await tab.locator("#copy").isVisible()) bad("a button that needs script shows without it");
  if (!(await tab.locator("h1").isVisible())) bad("there is no heading without script");
  await context.close();
}
