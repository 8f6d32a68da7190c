// What a report says, and its tables, which are laid out when they are asked for.
// Text from the data reaches the page through textContent only.

const content = JSON.parse(document.getElementById("content").textContent);
const entries = content.entries;
const edges = content.edges;
const FIRST_ROWS = 30;
const FIRST_ENTRIES = 40;

// Small helpers -------------------------------------------------------------------------------------------

function make(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

function byId(id) {
  return document.getElementById(id);
}

function number(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return value;
  const size = Math.abs(value);
  let text;
  if (Number.isInteger(value) && size < 1e15) text = value.toLocaleString("en-GB");
  else if (size !== 0 && (size < 1e-4 || size >= 1e7)) text = value.toExponential(3);
  else text = String(parseFloat(value.toPrecision(5)));
  return text.replace("-", "−");
}

// How many decimals the numbers of a column share; −1 where they differ too much for that.
function decimals(values) {
  const known = values.filter((value) => typeof value === "number");
  const sizes = known.map(Math.abs).filter((size) => size > 0);
  if (known.every(Number.isInteger)) return 0;
  const most = Math.max.apply(null, sizes);
  if (most >= 1e7 || most < 1e-2) return -1;
  return Math.max(0, Math.min(4, 5 - Math.ceil(Math.log10(most))));
}

function inColumn(value, places) {
  if (typeof value !== "number" || places < 0) return String(number(value));
  if (value !== 0 && Math.abs(value) < 0.5 * Math.pow(10, -places)) return value.toExponential(1).replace(/-/g, "−");
  const options = { minimumFractionDigits: places, maximumFractionDigits: places };
  return value.toLocaleString("en-GB", options).replace("-", "−");
}

function probability(p) {
  if (p === null || p === undefined) return "–";
  if (typeof p !== "number") return p;
  if (p === 0 || p === 1) return String(p);
  if (p > 0 && p < 0.00005) return "<0.0001";
  if (p >= 0.99995 && p < 1) return ">0.9999";
  return p.toFixed(4);
}

function fixed(value) {
  const options = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return value.toLocaleString("en-GB", options).replace("-", "−");
}

// Shows the first items of a list, and a button for as many again.
function inPieces(host, count, first, draw, noun) {
  let shown = 0;
  const more = make("button", "more");
  more.type = "button";
  function next(size) {
    const end = Math.min(count, shown + size);
    for (; shown < end; shown += 1) draw(shown);
    more.hidden = shown >= count;
    more.textContent = "Show more (" + (count - shown).toLocaleString("en-GB") + " " + noun + " left)";
  }
  more.addEventListener("click", () => next(Math.max(first, shown)));
  next(first);
  host.append(more);
}

// Tables --------------------------------------------------------------------------------------------------

function frame(caption) {
  const wrap = make("div", "scroll");
  wrap.tabIndex = 0;
  const table = make("table");
  if (caption) table.append(make("caption", "", caption));
  wrap.append(table);
  return { wrap: wrap, table: table };
}

function headCell(text, isNumber) {
  const cell = make("th", isNumber ? "num" : "", text);
  cell.scope = "col";
  cell.title = text;
  return cell;
}

function bodyCell(text, isNumber) {
  const cell = make("td", isNumber ? "num" : "", text);
  if (text.length > 24) cell.title = text;
  return cell;
}

function leftOut(host, total, shown) {
  if (total > shown) {
    const said = total.toLocaleString("en-GB") + " rows in all; the page holds " + shown.toLocaleString("en-GB") + ".";
    host.append(make("p", "quiet", said));
  }
}

function plainTable(spec, query) {
  const box = make("div", "sheet");
  let rows = spec.r;
  if (query) {
    const found = rows.filter((row) => row.some((cell) => String(cell).toLowerCase().includes(query)));
    if (found.length) rows = found;
  }
  const isNumber = spec.h.map((_, j) => {
    const known = rows.filter((row) => row[j] !== null);
    return known.length > 0 && known.every((row) => typeof row[j] === "number" || /^−?∞$/.test(row[j]));
  });
  const places = spec.h.map((_, j) => (isNumber[j] ? decimals(rows.map((row) => row[j])) : -1));
  const parts = frame(spec.c);
  const head = make("tr");
  const body = make("tbody");
  let order = rows.slice();
  let sorted = -1;
  let down = true;
  function fill() {
    body.replaceChildren();
    const old = box.querySelector(".more");
    if (old) old.remove();
    inPieces(box, order.length, FIRST_ROWS, (place) => {
      const line = make("tr");
      order[place].forEach((value, j) => {
        const isP = spec.h[j] === "p" && typeof value === "number";
        line.append(bodyCell(isP ? probability(value) : inColumn(value, places[j]), isNumber[j]));
      });
      body.append(line);
    }, "rows");
  }
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
  spec.h.forEach((name, j) => {
    const cell = headCell("", isNumber[j]);
    const button = make("button", "sort", name);
    button.type = "button";
    button.title = name;
    button.addEventListener("click", () => sortBy(j));
    cell.append(button);
    head.append(cell);
  });
  const top = make("thead");
  top.append(head);
  parts.table.append(top, body);
  box.append(parts.wrap);
  fill();
  leftOut(box, spec.n, spec.r.length);
  return box;
}

function shadedCell(p, low, high) {
  const cell = make("td", "num p");
  if (typeof p === "number") cell.style.setProperty("--p", String(p));
  cell.append(make("span", "", probability(p)));
  if (low !== undefined && low !== null) {
    cell.append(make("small", "", "[" + probability(low) + ", " + probability(high) + "]"));
  }
  return cell;
}

// The states of the parents in a row; rows without codes are in lexicographic order.
function configuration(sheet, row) {
  if (sheet.k) return sheet.k[row];
  const codes = [];
  let rest = row;
  for (let j = sheet.p.length - 1; j >= 0; j -= 1) {
    const size = entries[sheet.p[j]].s.length;
    codes[j] = rest % size;
    rest = Math.floor(rest / size);
  }
  return codes;
}

function conditionalTable(entry, sheet) {
  const box = make("div", "sheet");
  const parts = frame(sheet.c);
  const head = make("tr");
  const body = make("tbody");
  const top = make("thead");
  if (sheet.p.length === 0) {
    [entry.n, "p"].forEach((name, j) => head.append(headCell(name, j === 1)));
    entry.s.forEach((state, j) => {
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
    child.colSpan = entry.s.length;
    above.append(names, child);
    top.append(above);
    sheet.p.forEach((parent) => head.append(headCell(entries[parent].n, false)));
    entry.s.forEach((state) => head.append(headCell(state, true)));
  }
  top.append(head);
  parts.table.append(top, body);
  box.append(parts.wrap);
  if (sheet.p.length) {
    inPieces(box, sheet.v.length, FIRST_ROWS, (row) => {
      const line = make("tr");
      configuration(sheet, row).forEach((code, j) => line.append(bodyCell(entries[sheet.p[j]].s[code], false)));
      sheet.v[row].forEach((p, j) => {
        line.append(shadedCell(p, sheet.lo && sheet.lo[row][j], sheet.hi && sheet.hi[row][j]));
      });
      body.append(line);
    }, "rows");
  }
  leftOut(box, sheet.n, sheet.v.length);
  return box;
}
