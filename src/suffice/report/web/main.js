// The beginning of the page: what it holds, what answers, and what is shown.

import { byId } from "./dom.js";
import { startExplorer } from "./explorer.js";
import { normalEngine, treeEngine } from "./local_engine.js";
import { servedEngine } from "./served_engine.js";
import { showFamilies, showTables } from "./report.js";

function startPage() {
  const held = /** @type {HTMLElement} */ (byId("content"));
  /** @type {import("./types.js").Content} */
  const content = JSON.parse(held.textContent || "");
  const host = byId("explorer");
  if (content.served) sessionStorage.setItem("suffice", content.served.token); // which a reload needs
  const engine = content.served ? servedEngine(content.served.token)
    : content.tree ? treeEngine(content.tree)
    : content.normal ? normalEngine(content.normal) : null;
  const explorer = host && content.graph ? startExplorer(host, content, engine) : null;
  const visit = explorer ? explorer.visit : null;
  showFamilies(content, visit);
  showTables(content, visit, explorer ? explorer.mark : null);
  const done = () => document.documentElement.classList.add("ready");
  if (explorer) explorer.ready.then(done, done);
  else done();
}

/** On paper everything is unfolded. */
function unfoldOnPaper() {
  /** @type {HTMLDetailsElement[]} */
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = Array.from(document.querySelectorAll("details:not([open]):not(.menu)"));
    for (const details of opened) details.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });
}

startPage();
unfoldOnPaper();
