// The page: entries, the list of them with its search, and the parts of the log-likelihood.

// Entries -------------------------------------------------------------------------------------------------

function links(label, places) {
  const line = make("div", "links");
  line.append(make("span", "label", label));
  const shown = places.slice(0, 40);
  shown.forEach((place) => {
    const button = make("button", "chip", entries[place].n);
    button.type = "button";
    button.title = entries[place].n;
    button.addEventListener("click", () => open(place, true));
    line.append(button);
  });
  if (places.length > shown.length) line.append(make("span", "quiet", "and " + (places.length - shown.length) + " more"));
  return line;
}

function fact(name, value) {
  const line = make("div", "links");
  line.append(make("span", "label", name), make("span", "value", value));
  return line;
}

function fill(host, place, query) {
  const entry = entries[place];
  if (entry.s) fact_states(host, entry.s);
  if (entry.u) host.append(links("Parents", entry.u));
  if (entry.d) host.append(links("Children", entry.d));
  if (entry.m) host.append(links("Neighbours", entry.m));
  (entry.f || []).forEach((pair) => host.append(fact(pair[0], pair[1])));
  if (entry.l !== undefined) host.append(fact("Log-likelihood", fixed(entry.l)));
  (entry.t || []).forEach((spec) => {
    host.append(spec.v ? conditionalTable(entry, spec) : plainTable(spec, query));
  });
  if (!entry.t && !entry.f) host.append(make("p", "quiet", "It has no table of its own."));
}

function fact_states(host, states) {
  const shown = states.slice(0, 12).join(", ");
  const rest = states.length > 12 ? ", … " + (states.length - 12) + " more" : "";
  host.append(fact(states.length + (states.length === 1 ? " state" : " states"), shown + rest));
}

function open(place, move) {
  if (place < content.n_nodes && byId("detail")) {
    showDetail(place);
    if (move && graph) graph.centre(place);
  } else {
    showInList(place);
  }
}

function showDetail(place) {
  const host = byId("detail");
  host.replaceChildren();
  const head = make("div", "detail-head");
  const title = make("h3", "", entries[place].n);
  title.title = entries[place].n;
  head.append(title, make("span", "kind", entries[place].k));
  host.append(head);
  fill(host, place, "");
  host.scrollTop = 0;
  if (graph) graph.select(place);
}

// The list of tables, and the search ----------------------------------------------------------------------

const search = byId("search");
const list = byId("entries");
const count = byId("count");
let words = null;

function indexed() {
  if (words === null) {
    words = entries.map((entry) => [entry.n, entry.k].concat(entry.s || []).join("\n").toLowerCase());
  }
  return words;
}

function holds(entry, query) {
  return (entry.t || []).some((spec) => spec.r && spec.r.some((row) =>
    row.some((cell) => typeof cell === "string" && cell.toLowerCase().includes(query))));
}

function find(query) {
  const all = indexed();
  const found = [];
  entries.forEach((entry, place) => {
    if (!query || all[place].includes(query) || (place >= content.n_nodes && holds(entry, query))) found.push(place);
  });
  if (query) { // names that begin with the query come first, then those that hold it, then what has such a state
    const rank = found.map((place) => {
      const at = entries[place].n.toLowerCase().indexOf(query);
      return [at === 0 ? 0 : at > 0 ? 1 : 2, place];
    });
    return rank.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((pair) => pair[1]);
  }
  // Whole tables come first.
  return found.sort((a, b) => (a < content.n_nodes) - (b < content.n_nodes) || a - b);
}

function item(place, query) {
  const entry = entries[place];
  const line = make("li");
  const button = make("button", "entry");
  button.type = "button";
  button.setAttribute("aria-expanded", "false");
  const name = make("span", "name", entry.n);
  name.title = entry.n;
  button.append(name, make("span", "kind", entry.k));
  const body = make("div", "body");
  body.hidden = true;
  function toggle(wanted) {
    body.hidden = !wanted;
    button.setAttribute("aria-expanded", String(wanted));
    if (wanted && !body.hasChildNodes()) fill(body, place, query);
  }
  button.addEventListener("click", () => toggle(body.hidden));
  line.append(button, body);
  return { line: line, toggle: toggle };
}

function showList() {
  const query = search.value.trim().toLowerCase();
  const found = find(query);
  list.replaceChildren();
  const old = list.parentNode.querySelector(":scope > .more");
  if (old) old.remove();
  const items = [];
  inPieces(list.parentNode, found.length, FIRST_ENTRIES, (place) => {
    const made = item(found[place], query);
    items.push(made);
    list.append(made.line);
  }, "entries");
  if (items.length && (query ? found.length <= 3 : found[0] >= content.n_nodes)) items[0].toggle(true);
  const of = entries.length.toLocaleString("en-GB");
  if (!query) count.textContent = of + (entries.length === 1 ? " entry" : " entries");
  else count.textContent = found.length.toLocaleString("en-GB") + " of " + of;
  if (graph) graph.mark(query ? found.filter((place) => place < content.n_nodes) : null);
  return found;
}

function showInList(place) {
  search.value = entries[place].n;
  showList();
  byId("tables").scrollIntoView();
}

let waiting = 0;
search.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(showList, 60);
});
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter" || event.key === "Escape") clearTimeout(waiting); // the list is made anew here and now
  if (event.key === "Enter") {
    event.preventDefault();
    const found = showList();
    if (found.length) open(found[0], true);
  } else if (event.key === "Escape") {
    search.value = "";
    showList();
  }
});

const graph = byId("graph") ? moveable(byId("graph")) : null;

// The parts of the log-likelihood -------------------------------------------------------------------------

function showFamilies() {
  const host = byId("bars");
  if (!host) return;
  const families = content.families;
  const choice = byId("bar-order");
  const most = Math.max.apply(null, families.map((family) => Math.abs(family[1])).concat([1e-300]));
  function draw() {
    const order = families.map((_, place) => place);
    if (choice.value === "least") order.sort((a, b) => families[a][1] - families[b][1]);
    if (choice.value === "most") order.sort((a, b) => families[b][1] - families[a][1]);
    if (choice.value === "name") order.sort((a, b) => families[a][0].localeCompare(families[b][0], "en", { numeric: true }));
    host.replaceChildren();
    const old = host.parentNode.querySelector(":scope > .more");
    if (old) old.remove();
    inPieces(host.parentNode, order.length, 25, (row) => {
      const family = families[order[row]];
      const line = make("li");
      const name = make(family[2] >= 0 ? "button" : "span", "name", family[0]);
      name.title = family[0];
      if (family[2] >= 0) {
        name.type = "button";
        name.addEventListener("click", () => {
          open(family[2], true);
          byId(byId("detail") ? "graph-section" : "tables").scrollIntoView();
        });
      }
      const track = make("span", "track");
      const bar = make("span", family[1] < 0 ? "bar" : "bar plus");
      bar.style.width = (100 * Math.abs(family[1])) / most + "%";
      track.append(bar);
      const per = content.rows > 0 ? " (" + number(family[1] / content.rows) + " a row)" : "";
      line.append(name, track, make("span", "value", fixed(family[1]) + per));
      host.append(line);
    }, "families");
  }
  choice.addEventListener("change", draw);
  draw();
}

showFamilies();
showList();
if (graph && content.first >= 0) showDetail(content.first);
document.documentElement.classList.add("ready");
