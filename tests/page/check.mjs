// Opens report pages in Chromium as a reader would and looks for what is broken.
//
// usage: node check.mjs CHROMIUM OUT PAGE.. ; screenshots go to the folder OUT.
import { chromium } from "playwright-core";
import { statSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [program, out, ...pages] = process.argv.slice(2);
const LARGEST = 2_000_000;
const problems = [];
let charts = 0;

const browser = await chromium.launch({
  executablePath: program,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});

for (const [number, page] of pages.entries()) {
  const bad = (what) => problems.push(`${page}: ${what}`);
  if (statSync(page).size > LARGEST) bad(`larger than ${LARGEST} bytes`);
  for (const scheme of ["light", "dark"]) {
    for (const width of [1200, 390]) {
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
      await tab.screenshot({ path: `${out}/${number}-${scheme}-${width}.png`, fullPage: true });
      if (scheme === "light" && width === 1200) charts += await look(tab, bad);
      await context.close();
    }
  }
  await withoutScript(page, bad);
}
await browser.close();

if (charts === 0) problems.push("no page has a chart");
for (const problem of problems) console.error(problem);
console.log(`${charts} charts on ${pages.length} pages, ${problems.length} problems`);
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
  const figure = tab.locator("figure").first();
  if (found.charts > 0) {
    const spot = figure.locator(".picture .mark, .picture path.line").first();
    await spot.hover({ force: true });
    const words = await figure.locator(".tip").textContent();
    if (!words) bad("hovering over a mark shows nothing");
    const entry = tab.locator(".legend button").first();
    if (await entry.count()) {
      await entry.focus();
      await tab.keyboard.press("Enter");
      if ((await entry.getAttribute("aria-pressed")) !== "false") bad("the legend hides nothing");
      const hidden = await entry.evaluate((button) =>
        button.closest("figure").querySelectorAll("g.series.off").length);
      if (hidden === 0) bad("the legend leaves its series visible");
    }
  }
  await tab.locator("#copy").click();
  await tab.waitForFunction(() => document.getElementById("said").textContent !== "");
  const copied = await tab.evaluate(() => navigator.clipboard.readText());
  const markdown = await tab.locator("#markdown").textContent();
  if (copied.trim() !== markdown.trim()) bad("what is copied is not the Markdown of the report");
  const raw = await tab.evaluate(() => {
    try {
      JSON.parse(document.getElementById("raw-result").textContent);
      return true;
    } catch {
      return false;
    }
  });
  if (!raw) bad("the raw result is no JSON");
  return found.charts;
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
