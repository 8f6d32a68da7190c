// The cards beside the graph: evidence, targets, code; what moved most, what to ask next, explanation, sensitivity.

import { make, makeButton, nats, number, percent, probability } from "./dom.js";
import { asPython, asShell, describe, findings } from "./evidence.js";
import { isDensity, short } from "./monitors.js";

/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").Insights} Insights */
/** @typedef {import("./types.js").Marginal} Marginal */
/** @typedef {import("./types.js").Target} Target */
/** @typedef {import("./types.js").Entry} Entry */

const MOST = 8;

/**
 * A card with a heading, and the element that its content goes into.
 *
 * @param {string} id
 * @param {string} title
 */
export function makeCard(id, title) {
  const card = make("section", "card");
  card.id = "card-" + id;
  const head = make("h2", "", title);
  head.id = "head-" + id;
  head.tabIndex = -1; // takes the focus of what vanishes from the card
  card.setAttribute("aria-labelledby", head.id);
  const body = make("div", "content");
  card.append(head, body);
  return { card, head, body };
}

/**
 * @param {HTMLElement} body
 * @param {Question} question
 * @param {Entry[]} entries
 * @param {(node: number) => void} withdraw
 * @param {string} hint
 */
export function showEvidence(body, question, entries, withdraw, hint) {
  const chips = findings(question).map((node) => {
    const text = describe(question, node, entries);
    const chip = makeButton("chip seen", "", () => withdraw(node));
    chip.append(make("span", "", text), make("span", "cross", " ✕"));
    chip.title = text;
    chip.setAttribute("aria-label", "Withdraw " + text);
    return chip;
  });
  const box = make("div", "chips");
  box.append(...chips);
  body.replaceChildren(box, make("p", "quiet", hint));
}

/**
 * @param {HTMLElement} body
 * @param {number[]} pinned
 * @param {Entry[]} entries
 * @param {(node: number) => void} unpin
 */
export function showPinned(body, pinned, entries, unpin) {
  if (!pinned.length) {
    body.replaceChildren(make("p", "quiet", "Pin a variable to see what bears on it."));
    return;
  }
  const box = make("div", "chips");
  for (const node of pinned) {
    const chip = makeButton("chip", "★ " + entries[node].n + " ✕", () => unpin(node));
    chip.setAttribute("aria-label", "Unpin " + entries[node].n);
    box.append(chip);
  }
  body.replaceChildren(box);
}

/**
 * @param {HTMLElement} body
 * @param {Question} question
 * @param {number[]} targets
 * @param {Entry[]} entries
 * @param {Record<number, string[]>} literals
 * @param {string} model
 */
export function showCode(body, question, targets, entries, literals, model) {
  const asked = targets.filter((node) => !(node in question.hard) && !(node in question.values));
  const texts = [asPython(question, asked, entries, literals), asShell(question, asked, entries, model)];
  body.replaceChildren(...texts.map((text, place) => {
    const box = make("div", "code");
    const code = make("code", "", text);
    code.tabIndex = 0;
    const copy = makeButton("copy", "Copy", () => {
      const done = () => {
        copy.textContent = "Copied";
        setTimeout(() => (copy.textContent = "Copy"), 1500);
      };
      if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, () => selectText(code));
      else selectText(code);
    });
    copy.setAttribute("aria-label", "Copy the question as " + (place ? "a shell command" : "Python"));
    box.append(code, copy);
    return box;
  }));
}

/** @param {HTMLElement} element */
function selectText(element) {
  const selection = getSelection();
  if (selection) selection.selectAllChildren(element);
}

/**
 * @param {HTMLElement} body
 * @param {Entry[]} entries
 * @param {Answer} before
 * @param {Answer} now
 * @param {(number | null)[]} moved
 * @param {(node: number) => void} visit
 * @param {string} earlier  What is compared with.
 */
export function showMoved(body, entries, before, now, moved, visit, earlier) {
  const order = moved.map((size, node) => ({ size: size === null ? -1 : size, node })).filter((pair) => pair.size > 1e-12);
  order.sort((a, b) => b.size - a.size || a.node - b.node);
  if (!order.length) {
    body.replaceChildren(make("p", "quiet", "Nothing has moved."));
    return;
  }
  const rows = order.slice(0, MOST).map(({ size, node }) => {
    const [label, was, is] = mostChanged(entries[node], before.marginals[node], now.marginals[node]);
    const what = make("span");
    what.append(visitButton(entries[node].n, () => visit(node)), make("span", "quiet", label));
    return [what, was, is, nats(size)];
  });
  body.replaceChildren(makeTable(["variable", earlier, "now", "nats"], rows, "<>>>"));
}

/**
 * What changed most about a variable: a state and its probabilities, or its mean.
 *
 * @param {Entry} entry
 * @param {Marginal} before
 * @param {Marginal} now
 * @returns {[string, string, string]}
 */
function mostChanged(entry, before, now) {
  if (isDensity(before) && isDensity(now)) return [" mean", short(meanOf(before)), short(meanOf(now))];
  if (!Array.isArray(before) || !Array.isArray(now)) return ["", "", ""];
  let best = 0;
  now.forEach((p, code) => {
    if (Math.abs(p - before[code]) > Math.abs(now[best] - before[best]) + 1e-12) best = code;
  });
  return [" =\u00a0" + (entry.s || [])[best], percent(before[best]), percent(now[best])];
}

/** @param {import("./types.js").Density} density */
function meanOf(density) {
  return density.w.reduce((sum, w, j) => sum + w * density.m[j], 0);
}

/**
 * @param {Insights} insights
 * @param {"explanation" | "gains" | "slopes"} part
 */
function remarkOn(insights, part) {
  return (insights.remarks && insights.remarks[part]) || "";
}

/**
 * @param {HTMLElement} body
 * @param {Entry[]} entries
 * @param {Insights} insights
 * @param {Target | null} target
 * @param {(node: number) => void} visit
 */
export function showGains(body, entries, insights, target, visit) {
  if (!target || !insights.gains) {
    body.replaceChildren(make("p", "quiet", (target && (remarkOn(insights, "gains") || insights.refusal)) || "Pin a variable: the most informative next observation for it is shown here."));
    return;
  }
  const rows = insights.gains.filter((pair) => pair[1] > 1e-9).slice(0, MOST).map(([node, gain]) => {
    return [visitButton(entries[node].n, () => visit(node)), nats(gain)];
  });
  const remark = remarkOn(insights, "gains");
  const none = remark || "No other variable tells anything more about " + entries[target.node].n + ".";
  body.replaceChildren(rows.length ? makeTable(["observe", "expected gain, nats"], rows, "<>") : make("p", "quiet", none));
  if (rows.length && remark) body.append(make("p", "quiet", remark));
}

/**
 * @param {HTMLElement} body
 * @param {Entry[]} entries
 * @param {Insights} insights
 * @param {Question} question
 */
export function showExplanation(body, entries, insights, question) {
  const found = insights.explanation;
  if (!found) {
    body.replaceChildren(make("p", "quiet", remarkOn(insights, "explanation") || insights.refusal || "Not known."));
    return;
  }
  const free = found.states.map((state, node) => ({ state, node })).filter((pair) => {
    return pair.state !== null && !(pair.node in question.hard) && !(pair.node in question.values);
  });
  const list = make("dl", "pairs");
  const fill = (/** @type {number} */ count) => {
    list.replaceChildren();
    for (const { state, node } of free.slice(0, count)) {
      const states = entries[node].s;
      const ties = found.ties[node];
      const text = states ? (ties || [Number(state)]).map((code) => states[code]).join(" or ") : short(Number(state));
      list.append(make("dt", "", entries[node].n), make("dd", ties ? "tied" : "", text + (ties ? " (tied)" : "")));
    }
  };
  fill(10);
  body.replaceChildren(list);
  if (free.length > 10) {
    const more = makeButton("more", `Show all ${free.length.toLocaleString("en-GB")}`, () => {
      fill(free.length);
      list.tabIndex = -1;
      list.focus({ preventScroll: true });
      more.remove();
    });
    body.append(more);
  }
  const continuous = free.some((pair) => !entries[pair.node].s);
  const p = continuous ? "log density given the evidence " + number(found.logGiven) : "probability given the evidence " + probability(Math.exp(found.logGiven));
  body.append(make("p", "quiet", p[0].toUpperCase() + p.slice(1) + "."));
}

/**
 * @param {HTMLElement} body
 * @param {number | null} conflict
 * @param {number} count  How many findings there are.
 */
export function showConflict(body, conflict, count) {
  if (conflict === null || count < 2) {
    body.replaceChildren(make("p", "quiet", count < 2 ? "Two findings or more can be in conflict." : "Not known for these findings."));
    return;
  }
  const said = conflict > 1e-9 ? "The findings are less probable together than if they were independent: they may contradict each other, or the case is rare."
    : "The findings support each other.";
  body.replaceChildren(make("p", conflict > 1e-9 ? "value bad" : "value", nats(conflict) + " nats"), make("p", "quiet", said));
}

/**
 * @param {HTMLElement} body
 * @param {Entry[]} entries
 * @param {Insights} insights
 * @param {Target | null} target
 * @param {(node: number) => void} visit
 */
export function showSlopes(body, entries, insights, target, visit) {
  if (!target || !insights.slopes || !insights.slopes.length) {
    const none = target && !insights.slopes ? remarkOn(insights, "slopes") || insights.refusal || "The sensitivity is known for discrete Bayesian networks." : "";
    body.replaceChildren(make("p", "quiet", none || (target ? "No table entry changes the answer." : "Pin a variable to see which table entries its probability depends on.")));
    return;
  }
  const rows = insights.slopes.map((slope) => {
    const entry = entries[slope.node];
    const given = slope.parents.map((code, j) => {
      const parent = entries[(entry.u || [])[j]];
      return parent ? parent.n + "=" + (parent.s || [])[code] : "";
    });
    const text = entry.n + "=" + (entry.s || [])[slope.state] + (given.length ? " | " + given.join(", ") : "");
    return [visitButton(text, () => visit(slope.node)), probability(slope.entry), number(parseFloat(slope.slope.toPrecision(3)))];
  });
  body.replaceChildren(makeTable(["table entry", "p", "slope"], rows, "<>>"));
}

/**
 * @param {string} text
 * @param {() => void} act
 */
function visitButton(text, act) {
  const button = makeButton("visit", text, act);
  button.title = text;
  return button;
}

/**
 * @param {string[]} heads
 * @param {(string | HTMLElement)[][]} rows
 * @param {string} sides
 */
function makeTable(heads, rows, sides) {
  const table = make("table", "small");
  const head = make("tr");
  heads.forEach((text, j) => {
    const cell = make("th", sides[j] === ">" ? "num" : "", text);
    cell.scope = "col";
    head.append(cell);
  });
  const top = make("thead");
  top.append(head);
  const body = make("tbody");
  for (const row of rows) {
    const line = make("tr");
    row.forEach((content, j) => {
      const cell = make("td", sides[j] === ">" ? "num" : "");
      cell.append(content);
      line.append(cell);
    });
    body.append(line);
  }
  table.append(top, body);
  return table;
}
