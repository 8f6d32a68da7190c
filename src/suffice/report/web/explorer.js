// The explorer: a graph of monitors that can be asked by clicking, and what its answers say.

import { keepFocus, make, makeButton, number, probability } from "./dom.js";
import { showGraph } from "./graph_view.js";
import { rangeOf, showMonitor } from "./monitors.js";
import {
  describe, emptyQuestion, exclude, findingOf, findings, fromFragment, isSame, observe, observeValue, toFragment, weigh, withdraw,
} from "./evidence.js";
import { caseInWords, divergence } from "./insight.js";
import { makeCard, showCode, showConflict, showEvidence, showExplanation, showGains, showMoved, showPinned, showSlopes } from "./panels.js";
import { showNodePanel } from "./node_panel.js";
import { saveJson, savePng, saveSvg } from "./export.js";
import { showDataRows } from "./data_rows.js";

/** @typedef {import("./types.js").Content} Content */
/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").Target} Target */
/** @typedef {import("./types.js").Engine} Engine */
/** @typedef {{question: Question, pinned: number[], state: number}} State  What undo brings back; `state` is the one of the first pinned node that sensitivity is about. */

const LARGE = 60; // nodes beyond which a served graph opens on the neighbourhood of one of them
const BARS = "Click a bar to observe it, again to withdraw. Shift-click rules a state out. Drag along a bar to set a likelihood. Tick: before the evidence.";
const CURVES = "Click in a density to observe a value; dashed is the density before.";
const COMPARED = " Upper bars and dashed densities: case A.";
const LEGEND = "Δ: how far the evidence moved the distribution (KL).";

/**
 * @param {HTMLElement} host
 * @param {Content} content
 * @param {Engine | null} engine  None where the page can only show distributions without evidence.
 */
export function startExplorer(host, content, engine) {
  const graphSpec = /** @type {import("./types.js").GraphSpec} */ (content.graph);
  const entries = content.entries;
  const served = content.served;
  const names = entries.slice(0, graphSpec.n);
  const prior = content.prior;
  const sizes = names.map((entry) => (entry.s || []).length);
  const hint = [sizes.some((size) => size > 0) ? BARS : "", sizes.some((size) => size === 0) ? CURVES : "", LEGEND].filter(Boolean).join(" ");

  // The parts of the page --------------------------------------------------------------------------------

  const bar = make("div", "toolbar");
  const badge = make("span", "exact", content.size);
  badge.hidden = !content.size;
  const evidenceText = make("span", "evidence-p");
  const tools = make("div", "tools");
  bar.append(badge, evidenceText, tools);
  const message = make("div", "message");
  message.setAttribute("role", "alert");
  message.hidden = true;
  const live = make("p", "sr");
  live.setAttribute("aria-live", "polite");
  const left = make("div", "side left");
  const middle = make("div", "picture");
  const right = make("div", "side right");
  const desk = make("div", "desk");
  middle.append(...host.querySelectorAll(":scope > p"));
  desk.append(left, middle, right);
  host.append(bar, message, desk, live);

  const find = makeCard("find", "Find a variable ( / )");
  const evidence = makeCard("evidence", "Evidence");
  const targets = makeCard("targets", "Pinned targets");
  const rows = makeCard("rows", "Rows of the data");
  const code = makeCard("code", "This question as code");
  const node = makeCard("node", "Node");
  node.card.hidden = true;
  const moved = makeCard("moved", "What moved most");
  const gains = makeCard("gains", "Ask next");
  const explanation = makeCard("explanation", "Most probable explanation");
  const conflictCard = makeCard("conflict", "Conflict of the evidence");
  const slopes = makeCard("slopes", "Sensitivity");
  rows.card.hidden = !served || !served.rows;
  if (engine) {
    left.append(evidence.card, find.card, targets.card, rows.card, code.card);
    right.append(node.card, moved.card, gains.card, explanation.card, conflictCard.card, slopes.card);
  } else {
    left.remove();
    desk.classList.add("plain");
    const empty = makeCard("hint", "The node");
    empty.body.append(make("p", "quiet", "Choose a node to see its table."));
    right.append(node.card, empty.card);
  }

  // State ------------------------------------------------------------------------------------------------

  /** @type {State} */
  let state = { question: emptyQuestion(), pinned: [], state: 0 };
  let wanted = state; // of clicks that are not answered yet
  /** @type {Answer | null} */
  let answer = prior;
  /** @type {{question: Question, answer: Answer} | null} */
  let kept = null; // the case that is compared with
  let whiskers = content.whiskers;
  let chosen = -1;
  let asked = 0;
  /** @type {State[]} */
  const past = [];
  /** @type {State[]} */
  const future = [];
  /** @type {Answer} */
  let before = prior || { logEvidence: 0, marginals: names.map(() => null) };
  /** @type {(number | null)[]} */
  let distances = names.map(() => null);

  /**
   * Ask with another state, and show it once it is answered; impossible evidence changes nothing.
   *
   * @param {State} next
   * @param {"new" | "undo" | "redo" | "first"} how  At first, and while a likelihood is dragged, nothing is kept for undo.
   * @param {State} [origin]  What undo goes back to, if not to the state before.
   */
  async function ask(next, how = "new", origin) {
    if (!engine) return;
    const ticket = ++asked;
    host.dataset.asked = String(ticket);
    const last = origin || state;
    wanted = next;
    const dim = setTimeout(() => host.classList.add("waiting"), 60);
    try {
      const found = await engine.answer(next.question);
      if (ticket !== asked) return;
      if (found.refusal || found.logEvidence === -Infinity) {
        wanted = state;
        if (how === "first" && answer && answer.marginals.some((marginal) => marginal !== null) && !evidence.body.firstChild) {
          showAll(); // the page opened with evidence that is refused, so it begins without any
          think(ticket);
        }
        refuse(next.question, found);
        return;
      }
      answer = found;
      if (how === "new" && !isSame(last.question, next.question)) {
        past.push(last);
        future.length = 0;
      }
      state = next;
      message.hidden = true;
      if (found.note) warn(found.note);
      whiskers = findings(next.question).length ? null : content.whiskers;
      showAll();
      say(how === "first");
      think(ticket);
    } catch (error) {
      if (ticket !== asked) return;
      wanted = state;
      warn(error instanceof Error ? error.message : String(error));
    } finally {
      clearTimeout(dim);
      if (ticket === asked) {
        host.classList.remove("waiting");
        host.dataset.answered = String(ticket);
      }
    }
  }

  /** Ask for what takes longer, after the bars were shown. @param {number} ticket */
  function think(ticket) {
    const target = targetOf(state);
    right.classList.add("thinking");
    setTimeout(async () => {
      if (!engine || ticket !== asked) return;
      const question = state.question;
      try {
        const found = await engine.insights(question, target);
        if (ticket !== asked) return;
        renew(gains, () => showGains(gains.body, entries, found, target, visit));
        renew(explanation, () => showExplanation(explanation.body, entries, found, question));
        showConflict(conflictCard.body, found.conflict, findings(question).length);
        renew(slopes, () => showSlopes(slopes.body, entries, found, target, visit));
        right.classList.remove("thinking");
        if (served && served.intervals) {
          const ends = await engine.intervals(question);
          if (ticket !== asked) return;
          whiskers = ends;
          showMonitors();
        }
      } catch (error) {
        if (ticket === asked) warn(error instanceof Error ? error.message : String(error));
      }
    }, 0);
  }

  /**
   * @param {Question} question
   * @param {Answer} found
   */
  function refuse(question, found) {
    if (found.refusal) return warn(found.refusal);
    const clash = (found.clash || findings(question)).map((place) => describe(question, place, entries));
    const fresh = findings(question).filter((place) => JSON.stringify(findingOf(question, place)) !== JSON.stringify(findingOf(state.question, place)));
    const kept = fresh.length > 1 ? "The evidence stays as it was." : clash.length === 1 ? "It was not observed." : "The last finding was not observed.";
    warn(clash.length === 1 ? `Impossible: the model gives ${clash[0]} the probability zero. ${kept}`
      : `Impossible: ${clash.join(" and ")} exclude each other. ${kept}`);
  }

  /** @param {string} text */
  function warn(text) {
    const close = makeButton("close", "✕", () => {
      message.hidden = true;
      graph.focus(-1);
    });
    close.setAttribute("aria-label", "Close");
    keepFocus(message, () => message.replaceChildren(text, close), close);
    message.hidden = false;
    showMonitors();
    if (chosen >= 0) showNode();
  }

  /** @param {State} from @returns {Target | null} */
  function targetOf(from) {
    const open = from.pinned.filter((place) => !(place in from.question.hard) && !(place in from.question.values));
    return open.length ? { node: open[0], state: Math.min(from.state, Math.max(0, sizes[open[0]] - 1)) } : null;
  }

  // Showing ----------------------------------------------------------------------------------------------

  /** @param {number} place */
  function viewOf(place) {
    const base = kept ? kept.answer : before;
    return {
      now: answer ? answer.marginals[place] : null,
      isUnknown: answer !== null && answer.marginals[place] === null,
      before: base.marginals[place],
      compares: kept !== null,
      finding: findingOf(state.question, place),
      moved: kept || findings(state.question).length ? distances[place] : null,
      whiskers: whiskers ? whiskers[place] : null,
      pinned: state.pinned.includes(place),
    };
  }

  /** @type {State | null} */
  let dragged = null; // the state before a likelihood was dragged
  const graph = showGraph(middle, graphSpec, entries, answer !== null || engine !== null, {
    choose,
    open: (place) => {
      choose(place);
      const entry = /** @type {HTMLElement | null} */ (node.body.querySelector(".value-form input"));
      if (entry) entry.focus({ preventScroll: true });
    },
    observe: (place, code) => ask({ ...wanted, question: observe(wanted.question, place, code) }),
    exclude: (place, code) => ask({ ...wanted, question: exclude(wanted.question, place, code, sizes[place]) }),
    weigh: (place, code, likelihood, isLast) => {
      const next = weigh(wanted.question, place, code, likelihood, sizes[place]);
      if (next.soft[place] && next.soft[place].every((weight) => weight === 0)) return;
      const origin = dragged || state;
      dragged = isLast ? null : origin;
      ask({ ...wanted, question: next }, isLast ? "new" : "first", origin);
    },
    nudge: (place, code, by) => {
      const soft = wanted.question.soft[place];
      const likelihood = Math.min(1, Math.max(0, Math.round(10 * ((soft ? soft[code] : 1) + by)) / 10));
      const next = weigh(wanted.question, place, code, likelihood, sizes[place]);
      if (!next.soft[place] || next.soft[place].some((weight) => weight > 0)) ask({ ...wanted, question: next });
    },
    place: (place, part) => {
      if (!engine) return choose(place);
      const [low, high] = rangeOf(viewOf(place));
      ask({ ...wanted, question: observeValue(wanted.question, place, Number((low + part * (high - low)).toPrecision(3))) });
    },
    withdraw: (place) => ask({ ...wanted, question: withdraw(wanted.question, place) }),
    pin,
    fill: (group, place) => showMonitor(group, entries[place].n, entries[place].s || [], viewOf(place)),
    visit: served ? visit : null,
  });

  function showMonitors() {
    graph.each((group, place) => showMonitor(group, entries[place].n, entries[place].s || [], viewOf(place)));
  }

  /** Fill a card again, which may hold the focus. @param {ReturnType<typeof makeCard>} part @param {() => void} fill */
  function renew(part, fill) {
    keepFocus(part.body, fill, part.head);
  }

  function showAll() {
    if (!answer) return;
    const base = kept ? kept.answer : before;
    const now = answer;
    distances = names.map((_, place) => (findingOf(state.question, place) && !(place in state.question.soft) ? null : divergence(base.marginals[place], now.marginals[place])));
    showMonitors();
    const count = findings(state.question).length;
    const isDense = Object.keys(state.question.values).length > 0;
    evidenceText.textContent = !count ? "no evidence"
      : isDense ? "log density of the evidence " + number(now.logEvidence)
      : "p(evidence) = " + probabilityText(now.logEvidence) + " (" + caseInWords(now.logEvidence) + ")";
    renew(evidence, () => showEvidence(evidence.body, state.question, entries, (place) => ask({ ...wanted, question: withdraw(wanted.question, place) }), kept ? hint + COMPARED : hint));
    renew(targets, () => showPinned(targets.body, state.pinned, entries, pin));
    renew(code, () => showCode(code.body, state.question, state.pinned, entries, content.literals || {}, content.name));
    renew(moved, () => showMoved(moved.body, entries, base, now, distances, visit, kept ? "case A" : "before"));
    const target = targetOf(state);
    const about = target ? entries[target.node].n + (sizes[target.node] ? " = " + (entries[target.node].s || [])[target.state] : "") : "";
    gains.head.textContent = target ? "Ask next, to know " + entries[target.node].n : "Ask next";
    slopes.head.textContent = target ? "Sensitivity of p(" + about + ")" : "Sensitivity";
    moved.head.textContent = kept ? "What differs most from case A" : "What moved most";
    if (chosen >= 0) showNode();
    keepFocus(tools, () => {
      back.disabled = !past.length;
      again.disabled = !future.length;
      reset.disabled = !count;
    }, compare);
    remember();
  }

  /** @param {boolean} isFirst */
  function say(isFirst) {
    if (!isFirst) live.textContent = (findings(state.question).map((place) => describe(state.question, place, entries)).join(", ") || "No evidence") + ". " + evidenceText.textContent;
  }

  /** Keep the case in the page's address, so that it can be shared and reloaded. */
  function remember() {
    const text = toFragment(state.question, state.pinned, entries);
    try { // the token of a served page leaves its address
      history.replaceState(null, "", location.pathname + (served ? "" : location.search) + (text ? "#" + text : ""));
    } catch {
      // a page within another page has no address of its own
    }
  }

  // Nodes ------------------------------------------------------------------------------------------------

  /** @param {number} place */
  function choose(place) {
    const isLeft = place !== chosen && node.card.contains(document.activeElement);
    chosen = place;
    graph.select(place);
    showNode();
    node.card.hidden = false;
    const empty = document.getElementById("card-hint");
    if (empty) empty.remove();
    node.body.scrollTop = 0;
    right.scrollTop = 0;
    if (isLeft) node.head.focus({ preventScroll: true }); // the button that led here is gone
  }

  function closeNode() {
    const place = chosen;
    const isWithin = node.card.contains(document.activeElement);
    chosen = -1;
    node.card.hidden = true;
    graph.select(-1);
    if (isWithin) graph.focus(place);
  }
  node.card.addEventListener("keydown", (event) => {
    if (event.key === "Escape") closeNode();
  });

  function showNode() {
    keepFocus(node.card, fillNode, node.head);
  }

  function fillNode() {
    showNodePanel(node, entries, chosen, engine !== null, viewOf(chosen), {
      ask: (question) => ask({ ...wanted, question }),
      question: () => wanted.question,
      pin,
      visit,
      around: served && graphSpec.n > LARGE ? around : null,
      load: served && engine && "entry" in engine ? /** @type {any} */ (engine).entry : null,
      target: (code) => ask({ ...wanted, state: code, pinned: [chosen, ...wanted.pinned.filter((other) => other !== chosen)] }),
      close: closeNode,
    });
  }

  /** @param {number} place */
  function pin(place) {
    const isPinned = wanted.pinned.includes(place);
    const pinned = isPinned ? wanted.pinned.filter((other) => other !== place) : [place, ...wanted.pinned];
    ask({ ...wanted, pinned, state: 0 });
  }

  /** Go to a node, wherever it is. @param {number} place */
  async function visit(place) {
    if (!graph.has(place)) await around(place);
    graph.centre(place);
    choose(place);
  }

  /** Go to a node from elsewhere on the page, with the focus. @param {number} place */
  async function visitFocused(place) {
    await visit(place);
    graph.focus(place);
  }

  /** Show the neighbourhood of a node of a large graph. @param {number} place */
  async function around(place) {
    if (!engine || !("neighbourhood" in engine)) return;
    try {
      graph.show(await /** @type {any} */ (engine).neighbourhood(place));
      graph.select(place);
      showMonitors();
    } catch (error) {
      warn(error instanceof Error ? error.message : String(error));
    }
  }

  // Tools ------------------------------------------------------------------------------------------------

  /** @param {State[]} from @param {"undo" | "redo"} how */
  function step(from, how) {
    const next = from.pop();
    if (!next) return;
    (how === "undo" ? future : past).push(wanted);
    ask({ ...next, pinned: wanted.pinned, state: wanted.state }, how);
  }
  const back = makeButton("", "Undo", () => step(past, "undo"));
  const again = makeButton("", "Redo", () => step(future, "redo"));
  const reset = makeButton("", "Reset", () => ask({ ...wanted, question: emptyQuestion() }));
  const compare = makeButton("", "Compare", () => {
    kept = kept || !answer ? null : { question: state.question, answer };
    compare.textContent = kept ? "Stop comparing" : "Compare";
    compare.setAttribute("aria-pressed", String(kept !== null));
    host.classList.toggle("comparing", kept !== null);
    showAll();
  });
  compare.title = "Keep this case as A, and see every other beside it";
  const theme = makeButton("", "Dark", () => {
    const dark = isDark();
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    theme.textContent = dark ? "Dark" : "Light";
  });
  theme.textContent = isDark() ? "Light" : "Dark";
  const menu = make("details", "menu");
  menu.append(make("summary", "", "Export"));
  const choices = make("div", "choices");
  const file = content.name.replace(/\.[^.]*$/, "").replace(/[^\w-]+/g, "_") || "model";
  for (const [label, act] of /** @type {[string, () => void][]} */ ([
    ["Picture (PNG)", () => savePng(graph.svg, graph.layout(), file).catch(() => warn("The picture could not be drawn; save it as SVG."))],
    ["Picture (SVG)", () => saveSvg(graph.svg, graph.layout(), file)],
    ["Case (JSON)", () => saveJson(caseAsData(), file)],
    ["Copy the link", () => navigator.clipboard && navigator.clipboard.writeText(location.href)],
    ["Print", () => window.print()],
  ])) {
    choices.append(makeButton("", label, () => {
      closeMenu();
      act();
    }));
  }
  menu.append(choices);
  function closeMenu() {
    const isWithin = choices.contains(document.activeElement);
    menu.open = false;
    if (isWithin) /** @type {HTMLElement} */ (menu.firstElementChild).focus();
  }
  menu.addEventListener("keydown", (event) => {
    if (event.key === "Escape") closeMenu();
  });
  menu.addEventListener("focusout", (event) => {
    if (event.relatedTarget instanceof Node && !menu.contains(event.relatedTarget)) menu.open = false;
  });
  tools.append(...(engine ? [back, again, reset, compare] : []), menu, theme);

  function caseAsData() {
    const marginals = Object.fromEntries(names.map((entry, place) => {
      const now = answer && answer.marginals[place];
      return [entry.n, Array.isArray(now) ? Object.fromEntries(now.map((p, code) => [(entry.s || [])[code], p])) : now];
    }));
    const given = Object.fromEntries(findings(state.question).map((place) => {
      const states = entries[place].s || [];
      const soft = state.question.soft[place];
      return [entries[place].n, place in state.question.values ? state.question.values[place]
        : soft ? Object.fromEntries(soft.map((weight, k) => [states[k], weight])) : states[state.question.hard[place]]];
    }));
    return { model: content.name, given, log_evidence: answer && answer.logEvidence, marginals };
  }

  // Find -------------------------------------------------------------------------------------------------

  const field = make("input");
  field.type = "search";
  field.id = "find";
  field.placeholder = "name or state";
  field.autocomplete = "off";
  field.setAttribute("aria-label", "Find a variable by its name or a state");
  const hits = make("div", "hits");
  find.body.append(field, hits);
  const words = names.map((entry) => [entry.n.toLowerCase(), (entry.s || []).join("\n").toLowerCase()]);
  function search() {
    const query = field.value.trim().toLowerCase();
    const ranked = !query ? [] : words.map(([name, states], place) => {
      const at = name.indexOf(query);
      return { place, rank: at === 0 ? 0 : at > 0 ? 1 : states.includes(query) ? 2 : 3 };
    }).filter((hit) => hit.rank < 3).sort((a, b) => a.rank - b.rank || a.place - b.place);
    graph.mark(query ? ranked.map((hit) => hit.place) : null);
    hits.replaceChildren(...ranked.slice(0, 8).map((hit) => {
      const entry = names[hit.place];
      const state = hit.rank === 2 ? (entry.s || []).find((text) => text.toLowerCase().includes(query)) : "";
      return makeButton("visit", entry.n + (state ? " (" + state + ")" : ""), () => go(hit.place));
    }));
    if (query && !ranked.length) hits.append(make("p", "quiet", "Nothing has this name or state."));
    if (ranked.length > 8) hits.append(make("p", "quiet", (ranked.length - 8).toLocaleString("en-GB") + " more"));
    return ranked;
  }
  /** @param {number} place */
  async function go(place) {
    field.value = "";
    search();
    await visitFocused(place);
  }
  field.addEventListener("input", search);
  field.addEventListener("keydown", (event) => {
    const found = search();
    if (event.key === "Enter" && found.length) go(found[0].place);
    if (event.key === "Escape") {
      field.value = "";
      search();
    }
  });

  // Rows of the data -------------------------------------------------------------------------------------

  if (served && served.rows) {
    showDataRows(rows.body, /** @type {any} */ (engine), entries, served.rows, () => wanted.pinned, (question) => ask({ ...wanted, question }), warn);
  }

  // Keys of the whole page -------------------------------------------------------------------------------

  document.addEventListener("keydown", (event) => {
    const inField = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
    if (event.key === "/" && !inField && engine) {
      event.preventDefault();
      field.focus();
    }
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !inField) {
      event.preventDefault();
      if (event.shiftKey) step(future, "redo");
      else step(past, "undo");
    }
  });

  // The beginning ----------------------------------------------------------------------------------------

  async function begin() {
    const first = fromFragment(location.hash, entries, graphSpec.n);
    if (engine) {
      if (!prior) {
        try {
          before = await engine.answer(emptyQuestion());
          answer = before;
          if (before.refusal) warn(before.refusal);
        } catch (error) {
          warn(error instanceof Error ? error.message : String(error));
          return;
        }
      }
      if (served && graphSpec.n > LARGE) await around(first.pinned[0] ?? findings(first.question)[0] ?? graph.home(10));
      await ask({ question: first.question, pinned: first.pinned, state: 0 }, "first");
      window.addEventListener("hashchange", () => {
        const next = fromFragment(location.hash, entries, graphSpec.n);
        if (!isSame(next.question, state.question) || String(next.pinned) !== String(state.pinned)) ask({ ...next, state: 0 });
      });
    }
    if (state.pinned.length) choose(state.pinned[0]);
    else if (!engine && content.first >= 0) choose(content.first);
  }

  const ready = begin();
  return { choose, visit: visitFocused, ready, mark: graph.mark, ask: (/** @type {Question} */ question) => ask({ ...wanted, question }), answer: () => answer };
}

/** @param {number} logP */
function probabilityText(logP) {
  const p = Math.exp(logP);
  return p >= 0.00005 ? probability(p) : p > 0 ? p.toExponential(2).replace("-", "−") : "exp(" + number(logP) + ")";
}

function isDark() {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
