"use strict";
// The page is complete without this: it adds hover, a legend that hides series, and two buttons.
(() => {
  const by = (id) => document.getElementById(id);
  const tools = document.querySelector(".tools");

  const equip = () => {
    const said = by("said");
    tools.hidden = false;
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
  };
  // The page of what runs now has neither.
  if (tools) equip();

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".legend button");
    if (!button) return;
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    for (const group of button.closest("figure").querySelectorAll(".picture g.series")) {
      if (group.dataset.series === button.dataset.series) group.classList.toggle("off", !on);
    }
  });

  // What can be told of a picture: marks with their own words, or points of a dense line, whose
  // words are the rows of the table in the same order. Where marks are is asked once, when the
  // pointer comes.
  const known = new WeakMap();
  const place = (picture, mark) => {
    const box = mark.getBBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const far = picture.getScreenCTM().inverse().multiply(mark.getScreenCTM());
    const at = new DOMPoint(x, y).matrixTransform(far);
    return { x: at.x, y: at.y, mark, path: mark };
  };
  const dense = (figure, picture) => {
    const rows = figure.querySelectorAll("tbody tr");
    const heads = [...figure.querySelectorAll("thead th")].map((head) => head.textContent);
    const points = [];
    for (const path of picture.querySelectorAll("path.line")) {
      for (const part of path.getAttribute("d").split(/[ML]/).slice(1)) {
        const [x, y] = part.split(" ").map(Number);
        points.push({ x, y, path, row: rows[points.length], heads });
      }
    }
    return points;
  };
  const spots = (picture) => {
    if (!known.has(picture)) {
      const marks = [...picture.querySelectorAll(".mark")];
      const line = picture.querySelector("g.series > path.line") && marks.length === 0;
      const found = line
        ? dense(picture.closest("figure"), picture)
        : marks.map((mark) => place(picture, mark));
      known.set(picture, found);
    }
    return known.get(picture);
  };
  const words = (point) =>
    point.row
      ? [...point.row.cells].map((cell, at) => `${point.heads[at]} ${cell.textContent}`).join(", ")
      : "";

  const pictureOf = (event) => event.target.closest?.("figure .picture");
  document.addEventListener("pointermove", (event) => {
    const picture = pictureOf(event);
    if (!picture) return;
    const tip = picture.closest("figure").querySelector(".tip");
    const mark = event.target.closest(".mark");
    if (mark) {
      tip.textContent = mark.querySelector("title")?.textContent ?? "";
      return;
    }
    const box = picture.getBoundingClientRect();
    const scale = picture.viewBox.baseVal.width / box.width;
    const x = (event.clientX - box.left) * scale;
    const y = (event.clientY - box.top) * scale;
    let best = null;
    let least = Infinity;
    for (const point of spots(picture)) {
      if (point.path.closest(".series")?.classList.contains("off")) continue;
      const distance = (point.x - x) ** 2 * 4 + (point.y - y) ** 2;
      if (distance < least) [best, least] = [point, distance];
    }
    if (!best) return;
    tip.textContent = best.mark
      ? best.mark.querySelector("title")?.textContent ?? ""
      : words(best);
  });
  document.addEventListener("pointerout", (event) => {
    const picture = pictureOf(event);
    if (!picture || picture.contains(event.relatedTarget)) return;
    picture.closest("figure").querySelector(".tip").textContent = "";
  });
})();
