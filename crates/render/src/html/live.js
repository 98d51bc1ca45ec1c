"use strict";
// Follows the runs: what the server sends takes the place of what is shown, and what the reader
// has opened, hidden or scrolled stays so.
(() => {
  const main = document.querySelector("main");
  const link = document.getElementById("link");
  const say = (text) => { if (link.textContent !== text) link.textContent = text; };

  // Elements whose children are compared one by one; all others are replaced as a whole.
  const kept = new Set(["MAIN", "SECTION", "DIV", "FIGURE", "DETAILS", "TABLE"]);

  const merge = (old, next) => {
    if (old.isEqualNode(next) || old.matches(".tip")) return;
    if (old.matches(".legend") && old.textContent === next.textContent) return;
    const same = old.tagName === next.tagName && old.id === next.id &&
      old.className === next.className;
    if (!same || !kept.has(old.tagName)) {
      old.replaceWith(next);
      return;
    }
    const was = [...old.children];
    const now = [...next.children];
    now.forEach((child, at) => (at < was.length ? merge(was[at], child) : old.append(child)));
    was.slice(now.length).forEach((child) => child.remove());
  };

  const hide = () => {
    for (const button of main.querySelectorAll('.legend button[aria-pressed="false"]')) {
      const groups = button.closest("figure").querySelectorAll(".picture g.series");
      for (const group of groups) {
        if (group.dataset.series === button.dataset.series) group.classList.add("off");
      }
    }
  };

  const source = new EventSource("events");
  source.addEventListener("open", () => say("Following what runs here."));
  source.addEventListener("error", () => say("The server does not answer; trying again."));
  source.addEventListener("message", (event) => {
    const page = new DOMParser().parseFromString(JSON.parse(event.data).html, "text/html");
    const next = document.createElement("main");
    next.append(...page.body.childNodes);
    merge(main, document.adoptNode(next));
    hide();
  });
})();
