// Tables, laid out when they are asked for.

import { decimals, inColumn, keepFocus, make, makeButton, probability, fixed } from "./dom.js";

/** @typedef {import("./types.js").Entry} Entry */

const FIRST_ROWS = 30;

/**
 * Show the first items of a list, and a button for as many again.
 *
 * @param {HTMLElement} host
 * @param {number} count
 * @param {number} first
 * @param {(place: number) => void} show
 * @param {string} noun
 */
export function showInPieces(host, count, first, show, noun) {
  let shown = 0;
  const more = makeButton("more", "", () => keepFocus(host, () => next(Math.max(first, shown)), more));
  /** @param {number} size */
  function next(size) {
    const end = Math.min(count, shown + size);
    for (; shown < end; shown += 1) show(shown);
    more.hidden = shown >= count;
    more.textContent = "Show more (" + (count - shown).toLocaleString("en-GB") + " " + noun + " left)";
  }
  next(first);
  host.append(more);
}

/** @param {string} caption */
function makeFrame(caption) {
  const wrap = make("div", "scroll");
  wrap.tabIndex = 0;
  wrap.setAttribute("role", "group");
  wrap.setAttribute("aria-label", caption || "table");
  const table = make("table");
  if (caption) table.append(make("caption", "", caption));
  wrap.append(table);
  return { wrap, table };
}

/**
 * @param {string} text
 * @param {boolean} isNumber
 */
function headCell(text, isNumber) {
  const cell = make("th", isNumber ? "num" : "", text);
  cell.scope = "col";
  cell.title = text;
  return cell;
}

/**
 * @param {string} text
 * @param {boolean} isNumber
 */
function bodyCell(text, isNumber) {
  const cell = make("td", isNumber ? "num" : "", text);
  if (text.length > 24) cell.title = text;
  return cell;
}

/**
 * @param {HTMLElement} host
 * @param {number} total
 * @param {number} shown
 */
function sayLeftOut(host, total, shown) {
  if (total > shown) {
    const said = total.toLocaleString("en-GB") + " rows in all; the page holds " + shown.toLocaleString("en-GB") + ".";
    host.append(make("p", "quiet", said));
  }
}

/**
 * @param {any} spec
 * @param {string} query  Rows that hold these words are shown, if there are any.
 * @param {number} first  How many rows are shown at once.
 */
function plainTable(spec, query, first) {
  const box = make("div", "sheet");
  /** @type {any[][]} */
  let rows = spec.r;
  if (query) {
    const found = rows.filter((row) => row.some((cell) => String(cell).toLowerCase().includes(query)));
    if (found.length) rows = found;
  }
  /** @type {string[]} */
  const heads = spec.h;
  const isNumber = heads.map((_, j) => {
    const known = rows.filter((row) => row[j] !== null);
    return known.length > 0 && known.every((row) => typeof row[j] === "number" || /^−?∞$/.test(row[j]));
  });
  const places = heads.map((_, j) => (isNumber[j] ? decimals(rows.map((row) => row[j])) : -1));
  const parts = makeFrame(spec.c);
  const head = make("tr");
  const body = make("tbody");
  let order = rows.slice();
  let sorted = -1;
  let down = true;
  function fill() {
    body.replaceChildren();
    const old = box.querySelector(".more");
    if (old) old.remove();
    showInPieces(box, order.length, first, (place) => {
      const line = make("tr");
      order[place].forEach((value, j) => {
        const isP = heads[j] === "p" && typeof value === "number";
        line.append(bodyCell(isP ? probability(value) : inColumn(value, places[j]), isNumber[j]));
      });
      body.append(line);
    }, "rows");
  }
  /** @param {number} j */
  function sortBy(j) {
    down = sorted === j ? !down : isNumber[j];
    sorted = j;
    const sign = down ? -1 : 1;
    order = rows.slice().sort((a, b) => {
      const x = a[j];
      const y = b[j];
      if (x === y) return 0;
      if (x === null) return 1;
      if (y === null) return -1;
      if (typeof x === "number" && typeof y === "number") return sign * (x - y);
      return sign * String(x).localeCompare(String(y), "en", { numeric: true });
    });
    Array.from(head.children).forEach((cell, place) => {
      if (place === j) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    fill();
  }
  heads.forEach((name, j) => {
    const cell = headCell("", isNumber[j]);
    const button = makeButton("sort", name, () => sortBy(j));
    button.title = name;
    cell.append(button);
    head.append(cell);
  });
  const top = make("thead");
  top.append(head);
  parts.table.append(top, body);
  box.append(parts.wrap);
  fill();
  sayLeftOut(box, spec.n, spec.r.length);
  return box;
}

/**
 * @param {any} p
 * @param {any} [low]
 * @param {any} [high]
 */
function shadedCell(p, low, high) {
  const cell = make("td", "num p");
  if (typeof p === "number") cell.style.setProperty("--p", String(p));
  cell.append(make("span", "", probability(p)));
  if (low !== undefined && low !== null) {
    cell.append(make("small", "", "[" + probability(low) + ", " + probability(high) + "]"));
  }
  return cell;
}

/**
 * The states of the parents in a row; rows without codes are in lexicographic order.
 *
 * @param {any} sheet
 * @param {number} row
 * @param {Entry[]} entries
 * @returns {number[]}
 */
function configuration(sheet, row, entries) {
  if (sheet.k) return sheet.k[row];
  /** @type {number[]} */
  const codes = [];
  let rest = row;
  for (let j = sheet.p.length - 1; j >= 0; j -= 1) {
    const size = (entries[sheet.p[j]].s || []).length;
    codes[j] = rest % size;
    rest = Math.floor(rest / size);
  }
  return codes;
}

/**
 * @param {Entry} entry
 * @param {any} sheet
 * @param {Entry[]} entries
 * @param {number} first
 */
function conditionalTable(entry, sheet, entries, first) {
  const box = make("div", "sheet");
  const parts = makeFrame(sheet.c);
  const head = make("tr");
  const body = make("tbody");
  const top = make("thead");
  const states = entry.s || [];
  if (sheet.p.length === 0) {
    [entry.n, "p"].forEach((name, j) => head.append(headCell(name, j === 1)));
    states.forEach((state, j) => {
      const line = make("tr");
      line.append(bodyCell(state, false));
      line.append(shadedCell(sheet.v[0][j], sheet.lo && sheet.lo[0][j], sheet.hi && sheet.hi[0][j]));
      body.append(line);
    });
  } else {
    const above = make("tr", "over");
    const names = headCell("given", false);
    names.colSpan = sheet.p.length;
    const child = headCell(entry.n, true);
    child.colSpan = states.length;
    above.append(names, child);
    top.append(above);
    sheet.p.forEach((/** @type {number} */ parent) => head.append(headCell(entries[parent].n, false)));
    states.forEach((state) => head.append(headCell(state, true)));
  }
  top.append(head);
  parts.table.append(top, body);
  box.append(parts.wrap);
  if (sheet.p.length) {
    showInPieces(box, sheet.v.length, first, (row) => {
      const line = make("tr");
      configuration(sheet, row, entries).forEach((code, j) => {
        line.append(bodyCell((entries[sheet.p[j]].s || [])[code], false));
      });
      sheet.v[row].forEach((/** @type {any} */ p, /** @type {number} */ j) => {
        line.append(shadedCell(p, sheet.lo && sheet.lo[row][j], sheet.hi && sheet.hi[row][j]));
      });
      body.append(line);
    }, "rows");
    fixFirstColumns(parts.table, sheet.p.length);
  }
  sayLeftOut(box, sheet.n, sheet.v.length);
  return box;
}

/**
 * Keep the columns of the parents in view where a wide table is scrolled: as many as leave room for the others.
 *
 * @param {HTMLTableElement} table
 * @param {number} count
 */
function fixFirstColumns(table, count) {
  new ResizeObserver(() => {
    const wrap = /** @type {HTMLElement} */ (table.parentElement);
    const isWide = table.offsetWidth > wrap.clientWidth + 1;
    const last = table.tHead && table.tHead.rows[table.tHead.rows.length - 1];
    let left = 0;
    for (let j = 0; j < count && last; j += 1) {
      const width = last.cells[j].offsetWidth;
      const isFixed = isWide && left + width < 0.6 * wrap.clientWidth;
      table.style.setProperty("--left-" + j, left + "px");
      table.classList.toggle("fixed-" + j, isFixed && j < 4);
      left += width;
    }
  }).observe(table);
}

/**
 * Show what there is to say about an entry.
 *
 * @param {HTMLElement} host
 * @param {Entry[]} entries
 * @param {number} place
 * @param {{query?: string, whole?: boolean, open?: (place: number) => void}} [how]
 */
export function fillEntry(host, entries, place, how = {}) {
  const entry = entries[place];
  const first = how.whole ? Infinity : FIRST_ROWS;
  const open = how.open;
  if (entry.s) {
    const shown = entry.s.slice(0, 12).join(", ") + (entry.s.length > 12 ? ", … " + (entry.s.length - 12) + " more" : "");
    host.append(makeFact(entry.s.length + (entry.s.length === 1 ? " state" : " states"), shown));
  }
  for (const [label, places] of /** @type {[string, number[] | undefined][]} */ ([
    ["Parents", entry.u], ["Children", entry.d], ["Neighbours", entry.m],
  ])) {
    if (!places) continue;
    const line = make("div", "links");
    line.append(make("span", "label", label));
    for (const other of places.slice(0, 40)) {
      const button = makeButton("chip", entries[other].n, () => open && open(other));
      button.title = entries[other].n;
      line.append(button);
    }
    if (places.length > 40) line.append(make("span", "quiet", "and " + (places.length - 40) + " more"));
    host.append(line);
  }
  for (const [name, value] of entry.f || []) host.append(makeFact(name, value));
  if (entry.l !== undefined) host.append(makeFact("Log-likelihood", fixed(entry.l)));
  for (const spec of entry.t || []) {
    host.append(spec.v ? conditionalTable(entry, spec, entries, first) : plainTable(spec, how.query || "", first));
  }
  if (!entry.t && !entry.f) host.append(make("p", "quiet", "It has no table of its own."));
}

/**
 * @param {string} name
 * @param {string} value
 */
function makeFact(name, value) {
  const line = make("div", "links");
  line.append(make("span", "label", name), make("span", "value", value));
  return line;
}
