// The panel of one node: its evidence by buttons and fields, and its tables.

import { make, makeButton, percent } from "./dom.js";
import { exclude, observe, observeValue, weigh, withdraw } from "./evidence.js";
import { fillEntry } from "./tables.js";

/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").Entry} Entry */

/**
 * @typedef {Object} NodeActions
 * @property {(question: Question) => void} ask
 * @property {() => Question} question
 * @property {(node: number) => void} pin
 * @property {(node: number) => void} visit
 * @property {((node: number) => void) | null} around
 * @property {((node: number) => Promise<Entry>) | null} load  Its tables, where the page does not hold them.
 * @property {(code: number) => void} target
 * @property {() => void} close
 */

/** @type {Map<number, Entry>} */
const loaded = new Map();

/**
 * @param {{card: HTMLElement, head: HTMLElement, body: HTMLElement}} card
 * @param {Entry[]} entries
 * @param {number} node
 * @param {boolean} isAsked  Whether evidence can be set.
 * @param {import("./monitors.js").View} view
 * @param {NodeActions} actions
 */
export function showNodePanel(card, entries, node, isAsked, view, actions) {
  const isSame = card.card.dataset.node === String(node);
  card.card.dataset.node = String(node);
  card.head.textContent = entries[node].n;
  card.head.title = entries[node].n;
  const tools = make("div", "node-tools");
  tools.append(make("span", "kind", entries[node].k));
  if (isAsked) {
    const pin = makeButton("", view.pinned ? "★ Unpin" : "☆ Pin", () => actions.pin(node));
    pin.setAttribute("aria-pressed", String(view.pinned));
    tools.append(pin);
  }
  if (actions.around) tools.append(makeButton("", "Neighbourhood", () => /** @type {any} */ (actions.around)(node)));
  const close = makeButton("close", "✕", actions.close);
  close.setAttribute("aria-label", "Close this panel");
  tools.append(close);
  const old = card.body.querySelector(".setting");
  const setting = isAsked ? makeSetting(entries[node], node, view, actions) : make("div", "setting");
  if (isSame && old) { // the tables stay as they were sorted and scrolled
    old.replaceWith(setting);
    const toolbar = card.body.querySelector(".node-tools");
    if (toolbar) toolbar.replaceWith(tools);
    return;
  }
  const tables = make("div", "tables");
  card.body.replaceChildren(tools, setting, tables);
  const known = loaded.get(node);
  if (!actions.load || entries[node].t || known) {
    fillEntry(tables, known ? entries.map((entry, place) => (place === node ? known : entry)) : entries, node, { open: actions.visit });
    return;
  }
  tables.append(make("p", "quiet", "Loading its table …"));
  actions.load(node).then((entry) => {
    loaded.set(node, entry);
    if (card.card.dataset.node !== String(node)) return;
    tables.replaceChildren();
    fillEntry(tables, entries.map((other, place) => (place === node ? entry : other)), node, { open: actions.visit });
  }, (error) => tables.replaceChildren(make("p", "quiet", String(error.message || error))));
}

/**
 * @param {Entry} entry
 * @param {number} node
 * @param {import("./monitors.js").View} view
 * @param {NodeActions} actions
 */
function makeSetting(entry, node, view, actions) {
  const box = make("div", "setting");
  const finding = view.finding;
  if (!entry.s) {
    const form = make("form", "value-form");
    const field = make("input");
    field.type = "number";
    field.step = "any";
    field.id = "value-" + node;
    field.placeholder = "a value";
    field.setAttribute("aria-label", "Observed value of " + entry.n);
    field.value = finding && "value" in finding ? String(finding.value) : "";
    form.append(field, make("button", "", "Observe"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (field.value !== "" && Number.isFinite(Number(field.value))) actions.ask(observeValue(actions.question(), node, Number(field.value)));
    });
    if (finding) {
      form.append(makeButton("", "Withdraw", () => {
        field.focus();
        actions.ask(withdraw(actions.question(), node));
      }));
    }
    box.append(form);
    return box;
  }
  const table = make("table", "small states");
  const head = make("tr");
  for (const text of ["state", "p", "evidence", "likelihood"]) {
    const cell = make("th", text === "p" ? "num" : "", text);
    cell.scope = "col";
    head.append(cell);
  }
  const top = make("thead");
  top.append(head);
  const body = make("tbody");
  entry.s.forEach((state, code) => {
    const line = make("tr");
    const size = /** @type {string[]} */ (entry.s).length;
    const soft = finding && "soft" in finding ? finding.soft[code] : null;
    const isSeen = finding !== null && "hard" in finding && finding.hard === code;
    const see = makeButton("", "is", () => actions.ask(observe(actions.question(), node, code)));
    const rule = makeButton("", "is not", () => actions.ask(exclude(actions.question(), node, code, size)));
    see.id = "see-" + node + "-" + code;
    rule.id = "rule-" + node + "-" + code;
    see.setAttribute("aria-pressed", String(isSeen));
    rule.setAttribute("aria-pressed", String(soft === 0));
    see.setAttribute("aria-label", "Observe " + entry.n + " = " + state);
    rule.setAttribute("aria-label", "Rule out " + entry.n + " = " + state);
    const weight = make("input");
    weight.type = "number";
    weight.min = "0";
    weight.step = "any";
    weight.id = "weight-" + node + "-" + code;
    weight.value = String(soft === null ? (isSeen || !finding || "soft" in finding ? 1 : 0) : soft);
    weight.setAttribute("aria-label", "Likelihood of " + entry.n + " = " + state);
    weight.addEventListener("change", () => {
      const likelihood = Number(weight.value);
      const next = weigh(actions.question(), node, code, likelihood, size);
      const isLeft = !next.soft[node] || next.soft[node].some((other) => other > 0);
      if (weight.value !== "" && likelihood >= 0 && Number.isFinite(likelihood) && isLeft) actions.ask(next);
      else weight.value = String(soft === null ? 1 : soft);
    });
    const name = makeButton("visit", state, () => actions.target(code));
    name.title = "Make " + state + " the state that sensitivity is about";
    const p = Array.isArray(view.now) ? percent(view.now[code]) : "–";
    const buttons = make("span", "pair");
    buttons.append(see, rule);
    for (const [content, kind] of /** @type {[string | HTMLElement, string][]} */ ([[name, ""], [p, "num"], [buttons, ""], [weight, ""]])) {
      const cell = make("td", kind);
      cell.append(content);
      line.append(cell);
    }
    body.append(line);
  });
  table.append(top, body);
  box.append(table);
  return box;
}
