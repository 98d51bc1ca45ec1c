"use strict";
// The page is complete without this: it adds hover, a legend that hides series, and two buttons.
(() => {
  const by = (id) => document.getElementById(id);
  const said = by("said");
  document.querySelector(".tools").hidden = false;

  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      if (!done) throw new Error("refused");
    }
  };
  by("copy").addEventListener("click", async () => {
    try {
      await copy(by("markdown").textContent);
      said.textContent = "copied";
    } catch {
      by("markdown").closest("details").open = true;
      by("markdown").focus();
      said.textContent = "the browser refused; select the text below";
    }
  });
  by("save").addEventListener("click", () => {
    const raw = by("raw-result");
    const packed = raw.type !== "application/json";
    const content = packed
      ? Uint8Array.from(atob(raw.textContent), (digit) => digit.charCodeAt(0))
      : raw.textContent;
    const blob = new Blob([content], { type: packed ? "application/gzip" : raw.type });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = packed ? "assay-result.json.gz" : "assay-result.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });

  for (const figure of document.querySelectorAll("figure")) {
    const picture = figure.querySelector(".picture");
    const tip = figure.querySelector(".tip");
    const groups = () => picture.querySelectorAll("g.series");
    for (const button of figure.querySelectorAll(".legend button")) {
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(on));
        for (const group of groups()) {
          if (group.dataset.series === button.dataset.series) group.classList.toggle("off", !on);
        }
      });
    }
    // What is nearest to the pointer: marks with their own words, or points of a dense line,
    // whose words are the rows of the table in the same order.
    const marks = [...picture.querySelectorAll(".mark")];
    const dense = [];
    let row = 0;
    if (picture.querySelector("g.series > path.line") && marks.length === 0) {
      const rows = figure.querySelectorAll("tbody tr");
      const heads = [...figure.querySelectorAll("thead th")].map((head) => head.textContent);
      for (const path of picture.querySelectorAll("path.line")) {
        for (const part of path.getAttribute("d").split(/[ML]/).slice(1)) {
          const [x, y] = part.split(" ").map(Number);
          dense.push({ x, y, path, row: rows[row], heads });
          row += 1;
        }
      }
    }
    const words = (point) =>
      point.row
        ? [...point.row.cells].map((cell, at) => `${point.heads[at]} ${cell.textContent}`).join(", ")
        : "";
    // Where marks are, in the picture's own units; asked once, when the pointer comes.
    let spots = null;
    const place = (mark) => {
      const box = mark.getBBox();
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      const far = picture.getScreenCTM().inverse().multiply(mark.getScreenCTM());
      const at = new DOMPoint(x, y).matrixTransform(far);
      return { x: at.x, y: at.y, mark, path: mark };
    };
    picture.addEventListener("pointermove", (event) => {
      const mark = event.target.closest?.(".mark");
      if (mark) {
        tip.textContent = mark.querySelector("title")?.textContent ?? "";
        return;
      }
      spots ??= dense.length > 0 ? dense : marks.map(place);
      const box = picture.getBoundingClientRect();
      const scale = picture.viewBox.baseVal.width / box.width;
      const x = (event.clientX - box.left) * scale;
      const y = (event.clientY - box.top) * scale;
      let best = null;
      let least = Infinity;
      for (const point of spots) {
        if (point.path.closest(".series")?.classList.contains("off")) continue;
        const distance = (point.x - x) ** 2 * 4 + (point.y - y) ** 2;
        if (distance < least) [best, least] = [point, distance];
      }
      if (!best) return;
      tip.textContent = best.mark
        ? best.mark.querySelector("title")?.textContent ?? ""
        : words(best);
    });
    picture.addEventListener("pointerleave", () => { tip.textContent = ""; });
  }
})();
