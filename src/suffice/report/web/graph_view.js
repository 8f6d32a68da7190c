// The graph: boxes and edges that can be moved, zoomed, walked through by keys, and seen from afar in a small map.

import { draw, make, makeButton } from "./dom.js";
import { drawMonitor } from "./monitors.js";

/** @typedef {import("./types.js").Layout} Layout */
/** @typedef {import("./types.js").GraphSpec} GraphSpec */
/** @typedef {import("./types.js").Entry} Entry */

/**
 * What a person does to the graph.
 *
 * @typedef {Object} Actions
 * @property {(node: number) => void} choose  A node, to see its panel.
 * @property {(node: number) => void} open  Choose a node without bars, and go to the field of its value.
 * @property {(node: number, code: number) => void} observe
 * @property {(node: number, code: number) => void} exclude
 * @property {(node: number, code: number, likelihood: number, isLast: boolean) => void} weigh
 * @property {(node: number, code: number, by: number) => void} nudge  A likelihood, by a step.
 * @property {(node: number, part: number) => void} place  A value: how far along the width of its density.
 * @property {(node: number) => void} withdraw
 * @property {(node: number) => void} pin
 * @property {(group: SVGGElement, node: number) => void} fill  Show the distribution in a box that was just drawn.
 * @property {((node: number) => void) | null} visit  Go to a node that the layout does not show.
 */

const FAR = 0.32;
const READABLE = 0.75; // the scale at which a graph of monitors opens that would be smaller if it were shown whole
const NODE_KEYS = "← ↑ → ↓ move · Enter: states · P: pin · I: table · Delete: withdraw";
const STATE_KEYS = "↑ ↓ move · Enter: observe · X: rule out · + −: likelihood · Esc: back";
const MAP = { width: 150, height: 96 };
const WAYS = /** @type {Record<string, [number, number]>} */ ({
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
});

/**
 * @param {HTMLElement} host  What it holds becomes the caption.
 * @param {GraphSpec} graph
 * @param {Entry[]} entries
 * @param {boolean} hasMonitors
 * @param {Actions} actions
 */
export function showGraph(host, graph, entries, hasMonitors, actions) {
  const svg = draw("svg", { id: "graph", role: "application", "aria-label": describeGraph(graph), "aria-describedby": "graph-keys" });
  const tips = draw("defs", {});
  for (const name of graph.directed ? ["tip", "tip-in", "tip-out"] : []) {
    const marker = draw("marker", {
      id: name, viewBox: "0 0 8 8", refX: 7.4, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto",
    });
    marker.append(draw("path", { class: name, d: "M0 0.8L8 4L0 7.2Z" }));
    tips.append(marker);
  }
  const view = draw("g", { id: "view" });
  const lines = draw("g", {});
  const boxes = draw("g", {});
  view.append(lines, boxes);
  svg.append(tips, view);
  const map = make("canvas", "map");
  map.setAttribute("aria-hidden", "true");
  const buttons = make("div", "buttons");
  const keys = make("p", "sr", "Arrow keys move between nodes. Enter goes to the states of a node, where Enter observes a state, X rules it out, " +
    "plus and minus change its likelihood, and Escape goes back. P pins a node, I shows its table, Delete withdraws its evidence.");
  keys.id = "graph-keys";
  const caption = make("div", "caption");
  const short = [make("p", "quiet keys of-nodes", NODE_KEYS), make("p", "quiet keys of-states", STATE_KEYS)];
  for (const hint of short) hint.setAttribute("aria-hidden", "true");
  caption.append(...host.childNodes, ...short, buttons);
  host.append(caption, svg, map, keys);

  let layout = graph.layout;
  /** @type {Map<number, number>} */
  let place = new Map();
  /** @type {Map<number, SVGGElement>} */
  const drawn = new Map();
  /** @type {SVGPathElement[]} */
  let paths = [];
  let scale = 1;
  let left = 0;
  let top = 0;
  let least = 0.02;
  let touched = false;
  let current = 0;
  let chosen = -1;
  /** @type {Set<number> | null} */
  let marked = null;
  let waiting = 0;

  // Which nodes are where --------------------------------------------------------------------------------

  /** @param {Layout} next */
  function show(next) {
    const isFocused = boxes.contains(document.activeElement);
    layout = next;
    place = new Map(next.nodes.map((node, index) => [node, index]));
    drawn.forEach((group) => group.remove());
    drawn.clear();
    paths = next.edges.map((edge) => draw("path", {
      class: "edge" + (graph.directed ? "" : " plain") + (edge.w ? " w" + edge.w : "") + (edge.negative ? " negative" : ""), d: edge.d,
    }));
    lines.replaceChildren(...paths);
    if (!place.has(current)) current = next.nodes[0];
    touched = false;
    fit();
    highlight();
    if (isFocused) focus(current);
  }

  /** Draw the boxes that are in view; of many, those out of view would only take time. */
  function drawVisible() {
    waiting = 0;
    const pad = 60 / scale;
    const right = (svg.clientWidth - left) / scale + pad;
    const bottom = (svg.clientHeight - top) / scale + pad;
    const isMany = layout.nodes.length > 150;
    layout.nodes.forEach((node, index) => {
      const [x, y, width, height] = layout.boxes[index];
      const isSeen = !isMany || node === current || (x + width > -left / scale - pad && x < right && y + height > -top / scale - pad && y < bottom);
      const group = drawn.get(node);
      if (isSeen && !group) {
        const made = drawMonitor(node, entries[node].n, entries[node].s || [], graph.kinds[node], layout.boxes[index], hasMonitors);
        drawn.set(node, made);
        boxes.append(made);
        actions.fill(made, node);
        made.classList.toggle("chosen", node === chosen);
        if (marked) made.classList.toggle("match", marked.has(node));
      } else if (!isSeen && group && group !== document.activeElement && !group.contains(document.activeElement)) {
        group.remove();
        drawn.delete(node);
      }
    });
    setTabStop();
    drawMap();
  }

  function move() {
    view.setAttribute("transform", `translate(${left} ${top}) scale(${scale})`);
    svg.classList.toggle("far", scale < FAR);
    if (!waiting) waiting = requestAnimationFrame(drawVisible);
  }

  /** Show the whole graph; at first not smaller than can be read. @param {boolean} [isWhole] */
  function fit(isWhole) {
    const pad = 14;
    const wide = svg.clientWidth;
    const high = svg.clientHeight;
    const whole = Math.min((wide - 2 * pad) / layout.width, (high - 2 * pad) / layout.height, hasMonitors ? 1.1 : 1.25);
    scale = whole > 0 ? whole : 1;
    least = Math.min(scale, 0.5) / 2;
    const isCut = hasMonitors && !isWhole && scale < READABLE;
    if (isCut) scale = READABLE;
    const [x, y] = isCut ? centreOf(home()) : [layout.width / 2, layout.height / 2];
    left = between(wide / 2 - x * scale, wide - pad - layout.width * scale, pad);
    top = between(high / 2 - y * scale, high - pad - layout.height * scale, pad);
    move();
  }

  /**
   * A place for the picture at which no room is wasted; one that has room for all is in the middle.
   *
   * @param {number} wanted
   * @param {number} low
   * @param {number} high
   */
  function between(wanted, low, high) {
    return low > high ? (low + high) / 2 : Math.min(high, Math.max(low, wanted));
  }

  /** The node to begin with: the chosen one, or the one with most edges, but no more than some. @param {number} [most] */
  function home(most = Infinity) {
    if (place.has(chosen)) return chosen;
    const degree = new Map(layout.nodes.map((node) => [node, 0]));
    for (const edge of layout.edges) {
      degree.set(edge.from, (degree.get(edge.from) || 0) + 1);
      degree.set(edge.to, (degree.get(edge.to) || 0) + 1);
    }
    const rank = (/** @type {number} */ node) => {
      const count = degree.get(node) || 0;
      return count <= most ? count : -count;
    };
    return layout.nodes.reduce((best, node) => (rank(node) > rank(best) ? node : best));
  }

  /**
   * @param {number} factor
   * @param {number} x
   * @param {number} y
   */
  function zoom(factor, x, y) {
    const wanted = Math.min(4, Math.max(least, scale * factor));
    left = x - ((x - left) * wanted) / scale;
    top = y - ((y - top) * wanted) / scale;
    scale = wanted;
    touched = true;
    move();
  }

  /** @param {number} node */
  function centreOf(node) {
    const [x, y, width, height] = layout.boxes[/** @type {number} */ (place.get(node))];
    return [x + width / 2, y + height / 2];
  }

  /** @param {number} node */
  function centre(node) {
    if (!place.has(node)) return;
    const [x, y] = centreOf(node);
    scale = Math.max(scale, 0.8);
    left = svg.clientWidth / 2 - x * scale;
    top = svg.clientHeight / 2 - y * scale;
    touched = true;
    move();
    drawVisible();
  }

  /** Move the picture only as far as a node needs to be seen. @param {number} node */
  function reveal(node) {
    const [x, y] = centreOf(node);
    const [across, down] = [x * scale + left, y * scale + top];
    if (scale < FAR || across < 60 || down < 30 || across > svg.clientWidth - 60 || down > svg.clientHeight - 30) centre(node);
  }

  // What is marked ---------------------------------------------------------------------------------------

  function setTabStop() {
    drawn.forEach((group, node) => group.setAttribute("tabindex", node === current ? "0" : "-1"));
  }

  function highlight() {
    drawn.forEach((group, node) => group.classList.toggle("chosen", node === chosen));
    layout.edges.forEach((edge, k) => {
      paths[k].classList.toggle("in", edge.to === chosen);
      paths[k].classList.toggle("out", edge.from === chosen);
    });
  }

  /** @param {number} node */
  function select(node) {
    chosen = node;
    if (place.has(node)) current = node;
    setTabStop();
    highlight();
  }

  /** @param {number[] | null} found */
  function mark(found) {
    marked = found && new Set(found);
    svg.classList.toggle("searching", marked !== null);
    drawn.forEach((group, node) => group.classList.toggle("match", marked !== null && marked.has(node)));
  }

  // The keyboard -----------------------------------------------------------------------------------------

  /**
   * The nearest node in a direction; what lies straight ahead counts as nearer.
   *
   * @param {number} node
   * @param {number} dx
   * @param {number} dy
   */
  function beside(node, dx, dy) {
    const [a, b] = centreOf(node);
    let best = -1;
    let shortest = Infinity;
    for (const other of layout.nodes) {
      const [x, y] = centreOf(other);
      const ahead = (x - a) * dx + (y - b) * dy;
      const aside = Math.abs((x - a) * dy) + Math.abs((y - b) * dx);
      if (other !== node && ahead > 1 && aside <= 3 * ahead && ahead + 2 * aside < shortest) {
        best = other;
        shortest = ahead + 2 * aside;
      }
    }
    return best;
  }

  /** Give the focus to a node; one that the layout does not show leaves it where it was in the graph. @param {number} node */
  function focus(node) {
    if (place.has(node)) current = node;
    reveal(current);
    drawVisible();
    const group = drawn.get(current);
    if (group) group.focus({ preventScroll: true });
    host.scrollIntoView({ block: "nearest" });
  }

  svg.addEventListener("keydown", (event) => {
    const target = /** @type {Element} */ (event.target);
    const group = /** @type {SVGGElement | null} */ (target.closest(".node"));
    if (!group || event.ctrlKey || event.metaKey || event.altKey) return;
    const node = Number(group.dataset.i);
    const row = /** @type {SVGGElement | null} */ (target.closest(".state"));
    const act = row ? rowKey(group, node, row, event) : nodeKey(group, node, event);
    if (act) {
      event.preventDefault();
      event.stopPropagation();
      act();
    }
  });

  /**
   * @param {SVGGElement} group
   * @param {number} node
   * @param {KeyboardEvent} event
   * @returns {(() => void) | null}
   */
  function nodeKey(group, node, event) {
    const way = WAYS[event.key];
    if (way) return () => focus(beside(node, way[0], way[1]));
    if (event.key === "Enter" || event.key === " ") {
      const first = /** @type {SVGElement | null} */ (group.querySelector(".state"));
      return () => (first ? first.focus({ preventScroll: true }) : actions.open(node));
    }
    return shared(node, event.key);
  }

  /**
   * @param {SVGGElement} group
   * @param {number} node
   * @param {SVGGElement} row
   * @param {KeyboardEvent} event
   * @returns {(() => void) | null}
   */
  function rowKey(group, node, row, event) {
    const rows = /** @type {SVGGElement[]} */ (Array.from(group.querySelectorAll(".state")));
    const at = rows.indexOf(row);
    const code = Number(row.dataset.code);
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step) return () => rows[(at + step + rows.length) % rows.length].focus({ preventScroll: true });
    if (event.key === "Escape" || event.key === "ArrowLeft") return () => focus(node);
    if (event.key === "Enter" && event.shiftKey) return () => actions.exclude(node, code);
    if (event.key === "Enter" || event.key === " ") return () => actions.observe(node, code);
    if (event.key === "x" || event.key === "X") return () => actions.exclude(node, code);
    if (event.key === "+" || event.key === "=") return () => actions.nudge(node, code, 0.1);
    if (event.key === "-") return () => actions.nudge(node, code, -0.1);
    return shared(node, event.key);
  }

  /**
   * @param {number} node
   * @param {string} key
   * @returns {(() => void) | null}
   */
  function shared(node, key) {
    if (key === "p" || key === "P") return () => actions.pin(node);
    if (key === "i" || key === "I") return () => actions.choose(node);
    if (key === "Delete" || key === "Backspace") return () => actions.withdraw(node);
    return null;
  }

  // The pointer ------------------------------------------------------------------------------------------

  /** @type {Map<number, [number, number]>} */
  const pointers = new Map();
  let moved = 0;
  /** @type {Element | null} */
  let pressed = null;
  let isWeighing = false;

  /**
   * How far along the width of an element a pointer is, from zero to one.
   *
   * @param {Element} element
   * @param {PointerEvent} event
   */
  function along(element, event) {
    const box = element.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  }

  /** @param {PointerEvent} event @param {boolean} isLast */
  function weighBy(event, isLast) {
    const row = pressed && /** @type {SVGGElement | null} */ (pressed.closest(".state"));
    const group = row && /** @type {SVGGElement | null} */ (row.closest(".node"));
    const track = row && row.querySelector(".track");
    if (row && group && track) actions.weigh(Number(group.dataset.i), Number(row.dataset.code), Math.round(100 * along(track, event)) / 100, isLast);
  }

  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    if (pointers.size === 0) {
      moved = 0;
      pressed = /** @type {Element} */ (event.target);
      isWeighing = false;
    }
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = /** @type {[number, number]} */ ([event.clientX, event.clientY]);
    if (pointers.size === 1) {
      const across = Math.abs(now[0] - before[0]);
      moved += across + Math.abs(now[1] - before[1]);
      const onBar = pressed && pressed.matches(".track, .bar, .tick, .weight, .whisker");
      if (moved > 4 && (isWeighing || (onBar && across >= Math.abs(now[1] - before[1])))) {
        isWeighing = true;
        weighBy(event, false);
      } else if (moved > 4) {
        left += now[0] - before[0];
        top += now[1] - before[1];
        touched = true;
        pressed = null;
        move();
      } else return;
    } else if (pointers.size === 2) {
      const other = /** @type {[number, [number, number]]} */ (Array.from(pointers).find((pair) => pair[0] !== event.pointerId))[1];
      const far = (/** @type {[number, number]} */ a) => Math.hypot(a[0] - other[0], a[1] - other[1]) || 1;
      const edge = svg.getBoundingClientRect();
      moved = 100;
      pressed = null;
      zoom(far(now) / far(before), (now[0] + other[0]) / 2 - edge.left, (now[1] + other[1]) / 2 - edge.top);
    }
    pointers.set(event.pointerId, now);
  });
  /** @param {PointerEvent} event */
  function release(event) {
    const isKnown = pointers.delete(event.pointerId);
    if (!isKnown || event.type !== "pointerup" || pointers.size > 0 || !pressed) return;
    const group = /** @type {SVGGElement | null} */ (pressed.closest(".node"));
    if (isWeighing) weighBy(event, true);
    else if (group && moved <= 4) press(group, Number(group.dataset.i), event);
    pressed = null;
  }
  svg.addEventListener("pointerup", release);
  svg.addEventListener("pointercancel", release);

  /**
   * @param {SVGGElement} group
   * @param {number} node
   * @param {PointerEvent} event
   */
  function press(group, node, event) {
    const target = /** @type {Element} */ (pressed);
    const row = /** @type {SVGGElement | null} */ (target.closest(".state"));
    const field = target.closest(".curve");
    current = node;
    setTabStop();
    if (svg.classList.contains("far")) {
      centre(node);
      actions.choose(node);
    } else if (row && event.shiftKey) actions.exclude(node, Number(row.dataset.code));
    else if (row) actions.observe(node, Number(row.dataset.code));
    else if (field && group.querySelector(".field")) actions.place(node, along(/** @type {Element} */ (group.querySelector(".field")), event));
    else if (target.matches(".moved") && (group.classList.contains("observed") || group.classList.contains("weighed"))) actions.withdraw(node);
    else actions.choose(node);
  }

  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && !host.contains(document.activeElement)) return;
    event.preventDefault();
    const edge = svg.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.clientX - edge.left, event.clientY - edge.top);
  }, { passive: false });

  for (const [id, label, sign, act] of /** @type {[string, string, string, () => void][]} */ ([
    ["zoom-in", "Zoom in", "+", () => zoom(1.4, svg.clientWidth / 2, svg.clientHeight / 2)],
    ["zoom-out", "Zoom out", "−", () => zoom(1 / 1.4, svg.clientWidth / 2, svg.clientHeight / 2)],
    ["zoom-fit", "Show all", "⤢", () => { touched = false; fit(true); }],
  ])) {
    const button = makeButton("", sign, act);
    button.id = id;
    button.title = label;
    button.setAttribute("aria-label", label);
    buttons.append(button);
  }

  // The map ----------------------------------------------------------------------------------------------

  const whole = graph.layout;
  const share = Math.min(MAP.width / whole.width, MAP.height / whole.height);

  /** The whole graph as dots, and a frame around what is in view. */
  function drawMap() {
    const isPart = layout !== whole;
    const isNeeded = isPart || scale * layout.width > svg.clientWidth + 40 || scale * layout.height > svg.clientHeight + 40;
    map.hidden = !isNeeded || svg.clientWidth < 500;
    const pen = map.hidden ? null : map.getContext("2d");
    if (!pen) return;
    map.width = Math.ceil(whole.width * share) + 8;
    map.height = Math.ceil(whole.height * share) + 8;
    const style = getComputedStyle(svg);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    pen.translate(4, 4);
    whole.nodes.forEach((node, index) => {
      const [x, y, width, height] = whole.boxes[index];
      pen.fillStyle = isPart && place.has(node) ? colour("--blue") : colour("--edge");
      pen.fillRect(x * share, y * share, Math.max(2, width * share), Math.max(2, height * share));
    });
    if (isPart) return;
    pen.strokeStyle = colour("--up");
    pen.lineWidth = 1.5;
    pen.strokeRect((-left / scale) * share, (-top / scale) * share, (svg.clientWidth / scale) * share, (svg.clientHeight / scale) * share);
  }

  map.addEventListener("click", (event) => {
    const edge = map.getBoundingClientRect();
    const x = (event.clientX - edge.left - 4) / share;
    const y = (event.clientY - edge.top - 4) / share;
    const far = whole.boxes.map(([a, b, width, height]) => Math.hypot(a + width / 2 - x, b + height / 2 - y));
    const node = whole.nodes[far.indexOf(Math.min(...far))];
    if (layout !== whole && actions.visit) actions.visit(node);
    else {
      left = svg.clientWidth / 2 - x * scale;
      top = svg.clientHeight / 2 - y * scale;
      touched = true;
      move();
    }
  });

  new ResizeObserver(() => (touched ? move() : fit())).observe(svg);
  // On paper the picture has another size than on the screen, which a view box fits by itself.
  window.addEventListener("beforeprint", () => {
    svg.setAttribute("viewBox", `-10 -10 ${layout.width + 20} ${layout.height + 20}`);
    view.removeAttribute("transform");
    svg.classList.remove("far");
  });
  window.addEventListener("afterprint", () => {
    svg.removeAttribute("viewBox");
    move();
  });
  show(layout);
  return {
    svg,
    show,
    select,
    mark,
    centre,
    focus,
    home,
    has: (/** @type {number} */ node) => place.has(node),
    layout: () => layout,
    /** @param {(group: SVGGElement, node: number) => void} act */
    each: (act) => drawn.forEach((group, node) => act(group, node)),
  };
}

/** @param {GraphSpec} graph */
function describeGraph(graph) {
  const edges = graph.layout.edges.length;
  return `Graph of ${graph.n.toLocaleString("en-GB")} nodes and ${edges.toLocaleString("en-GB")} edges`;
}
