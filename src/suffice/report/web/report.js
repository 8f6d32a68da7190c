// The rest of a report: the list of tables with its search, and the parts of the log-likelihood.

import { byId, fixed, make, makeButton, number } from "./dom.js";
import { fillEntry, showInPieces } from "./tables.js";

/** @typedef {import("./types.js").Content} Content */

const FIRST_ENTRIES = 40;

/**
 * @param {Content} content
 * @param {((place: number) => void) | null} visit  Go to a node of the graph.
 * @param {((found: number[] | null) => void) | null} mark  Mark nodes of the graph.
 */
export function showTables(content, visit, mark) {
  const entries = content.entries;
  const n = content.graph ? content.graph.n : 0;
  const search = /** @type {HTMLInputElement | null} */ (byId("search"));
  const list = byId("entries");
  const count = byId("count");
  if (!search || !list || !count) return;
  const words = entries.map((entry) => [entry.n, entry.k].concat(entry.s || []).join("\n").toLowerCase());

  /** @param {number} place @param {string} query */
  const holds = (place, query) => (entries[place].t || []).some((spec) => spec.r && spec.r.some((/** @type {any[]} */ row) =>
    row.some((cell) => typeof cell === "string" && cell.toLowerCase().includes(query))));

  /** @param {string} query */
  function find(query) {
    const found = entries.map((_, place) => place).filter((place) => !query || words[place].includes(query) || (place >= n && holds(place, query)));
    // Without a query whole tables come first; with one, names that begin with it, then those that hold it.
    const rank = (/** @type {number} */ place) => {
      const at = entries[place].n.toLowerCase().indexOf(query);
      return !query ? (place < n ? 1 : 0) : at === 0 ? 0 : at > 0 ? 1 : 2;
    };
    return found.sort((a, b) => rank(a) - rank(b) || a - b);
  }

  /** @param {number} place */
  function open(place) {
    if (place < n && visit) {
      visit(place);
      const top = byId("explorer");
      if (top) top.scrollIntoView();
    } else {
      /** @type {HTMLInputElement} */ (search).value = entries[place].n;
      show();
    }
  }

  /** @param {number} place @param {string} query */
  function makeItem(place, query) {
    const line = make("li");
    const body = make("div", "body");
    body.hidden = true;
    const button = makeButton("entry", "", () => toggle(body.hidden));
    button.setAttribute("aria-expanded", "false");
    const name = make("span", "name", entries[place].n);
    name.title = entries[place].n;
    button.append(name, make("span", "kind", entries[place].k));
    /** @param {boolean} wanted */
    function toggle(wanted) {
      body.hidden = !wanted;
      button.setAttribute("aria-expanded", String(wanted));
      if (wanted && !body.hasChildNodes()) fillEntry(body, entries, place, { query, open });
    }
    line.append(button, body);
    return { line, toggle };
  }

  function show() {
    const query = /** @type {HTMLInputElement} */ (search).value.trim().toLowerCase();
    const found = find(query);
    const host = /** @type {HTMLElement} */ (/** @type {HTMLElement} */ (list).parentElement);
    /** @type {HTMLElement} */ (list).replaceChildren();
    const old = host.querySelector(":scope > .more");
    if (old) old.remove();
    /** @type {ReturnType<typeof makeItem>[]} */
    const items = [];
    showInPieces(host, found.length, FIRST_ENTRIES, (place) => {
      const made = makeItem(found[place], query);
      items.push(made);
      /** @type {HTMLElement} */ (list).append(made.line);
    }, "entries");
    if (items.length && (query ? found.length <= 3 : found[0] >= n)) items[0].toggle(true);
    const of = entries.length.toLocaleString("en-GB");
    const said = query ? found.length.toLocaleString("en-GB") + " of " + of : of + (entries.length === 1 ? " entry" : " entries");
    /** @type {HTMLElement} */ (count).textContent = said;
    if (mark) mark(query ? found.filter((place) => place < n) : null);
    return found;
  }

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, 60);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    clearTimeout(waiting);
    if (event.key === "Escape") search.value = "";
    else event.preventDefault();
    const found = show();
    if (event.key === "Enter" && found.length) open(found[0]);
  });
  show();

  // On paper every table is printed, whole.
  const paper = make("div", "on-paper");
  list.after(paper);
  window.addEventListener("beforeprint", () => {
    paper.replaceChildren(...entries.map((entry, place) => {
      const box = make("div", "printed");
      box.append(make("h3", "", entry.n));
      fillEntry(box, entries, place, { whole: true });
      return box;
    }));
  });
  window.addEventListener("afterprint", () => paper.replaceChildren());
}

/**
 * @param {Content} content
 * @param {((place: number) => void) | null} visit
 */
export function showFamilies(content, visit) {
  const host = byId("bars");
  const choice = /** @type {HTMLSelectElement | null} */ (byId("bar-order"));
  if (!host || !choice) return;
  const families = content.families;
  const most = Math.max(...families.map((family) => Math.abs(family[1])), 1e-300);
  function show() {
    const by = /** @type {HTMLSelectElement} */ (choice).value;
    const order = families.map((_, place) => place);
    if (by === "least") order.sort((a, b) => families[a][1] - families[b][1]);
    if (by === "most") order.sort((a, b) => families[b][1] - families[a][1]);
    if (by === "name") order.sort((a, b) => families[a][0].localeCompare(families[b][0], "en", { numeric: true }));
    const list = /** @type {HTMLElement} */ (host);
    const around = /** @type {HTMLElement} */ (list.parentElement);
    list.replaceChildren();
    const old = around.querySelector(":scope > .more");
    if (old) old.remove();
    showInPieces(around, order.length, 25, (row) => {
      const [text, value, place] = families[order[row]];
      const line = make("li");
      const name = place >= 0 && visit ? makeButton("name", text, () => {
        visit(place);
        const top = byId("explorer");
        if (top) top.scrollIntoView();
      }) : make("span", "name", text);
      name.title = text;
      const track = make("span", "track");
      const bar = make("span", value < 0 ? "bar" : "bar plus");
      bar.style.width = (100 * Math.abs(value)) / most + "%";
      track.append(bar);
      const per = content.rows > 0 ? " (" + number(value / content.rows) + " per row)" : "";
      line.append(name, track, make("span", "value", fixed(value) + per));
      list.append(line);
    }, "families");
  }
  choice.addEventListener("change", show);
  show();
}
