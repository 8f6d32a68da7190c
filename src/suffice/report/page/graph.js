// A graph that can be moved, zoomed and walked through.

function moveable(svg) {
  const box = svg.parentNode;
  const view = svg.querySelector("#view");
  const nodes = Array.from(svg.querySelectorAll(".node"));
  const lines = Array.from(svg.querySelectorAll(".edge"));
  const at = content.at;
  const size = { width: content.size[0], height: content.size[1] };
  let scale = 1;
  let left = 0;
  let top = 0;
  let least = 0.02;
  let touched = false;
  let current = 0;

  function draw() {
    view.setAttribute("transform", "translate(" + left + " " + top + ") scale(" + scale + ")");
    svg.classList.toggle("far", scale < 0.3);
  }

  function fit() {
    const pad = 14;
    const wide = svg.clientWidth;
    const high = svg.clientHeight;
    scale = Math.min((wide - 2 * pad) / size.width, (high - 2 * pad) / size.height, 1.25);
    if (!(scale > 0)) scale = 1;
    least = Math.min(scale, 0.5) / 2;
    left = (wide - size.width * scale) / 2;
    top = (high - size.height * scale) / 2;
    draw();
  }

  function zoom(factor, x, y) {
    const wanted = Math.min(4, Math.max(least, scale * factor));
    left = x - ((x - left) * wanted) / scale;
    top = y - ((y - top) * wanted) / scale;
    scale = wanted;
    touched = true;
    draw();
  }

  function centre(place) {
    const wide = svg.clientWidth;
    const high = svg.clientHeight;
    scale = Math.max(scale, 0.8);
    left = wide / 2 - at[place][0] * scale;
    top = high / 2 - at[place][1] * scale;
    touched = true;
    draw();
  }

  function focusable(place) {
    nodes[current].setAttribute("tabindex", "-1");
    current = place;
    nodes[place].setAttribute("tabindex", "0");
  }

  function select(place) {
    nodes.forEach((node) => node.classList.remove("chosen"));
    lines.forEach((line) => line.classList.remove("in", "out"));
    nodes[place].classList.add("chosen");
    edges.forEach((edge, k) => {
      if (edge[1] === place) lines[k].classList.add("in");
      if (edge[0] === place) lines[k].classList.add("out");
    });
    focusable(place);
  }

  function mark(found) {
    svg.classList.toggle("searching", found !== null);
    const wanted = new Set(found || []);
    nodes.forEach((node, place) => node.classList.toggle("match", wanted.has(place)));
  }

  // The nearest node in a direction; what lies straight ahead counts as nearer.
  function beside(place, dx, dy) {
    let best = -1;
    let least_way = Infinity;
    at.forEach((spot, other) => {
      const x = spot[0] - at[place][0];
      const y = spot[1] - at[place][1];
      const ahead = x * dx + y * dy;
      const aside = Math.abs(x * dy) + Math.abs(y * dx);
      const way = ahead + 2 * aside;
      if (other !== place && ahead > 1 && aside <= 3 * ahead && way < least_way) {
        best = other;
        least_way = way;
      }
    });
    return best;
  }

  const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  svg.addEventListener("keydown", (event) => {
    const node = event.target.closest(".node");
    if (!node) return;
    const place = Number(node.dataset.i);
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      showDetail(place);
    } else if (ways[event.key]) {
      event.preventDefault();
      const other = beside(place, ways[event.key][0], ways[event.key][1]);
      if (other >= 0) {
        focusable(other);
        nodes[other].focus({ preventScroll: true });
        within(other);
      }
    }
  });

  // Moves the picture only as far as a node needs to be seen.
  function within(place) {
    const x = at[place][0] * scale + left;
    const y = at[place][1] * scale + top;
    if (scale < 0.3 || x < 60 || y < 30 || x > svg.clientWidth - 60 || y > svg.clientHeight - 30) centre(place);
  }

  const pointers = new Map();
  let moved = 0;
  let pressed = null;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    if (pointers.size === 0) {
      moved = 0;
      pressed = event.target.closest(".node");
    }
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    if (pointers.size === 1) {
      moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
      if (moved > 4) {
        left += now[0] - before[0];
        top += now[1] - before[1];
        touched = true;
        draw();
      }
    } else if (pointers.size === 2) {
      const other = Array.from(pointers).find((pair) => pair[0] !== event.pointerId)[1];
      const far = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]) || 1;
      const edge = svg.getBoundingClientRect();
      moved = 100;
      zoom(far(now) / far(before), (now[0] + other[0]) / 2 - edge.left, (now[1] + other[1]) / 2 - edge.top);
    }
    pointers.set(event.pointerId, now);
  });
  function release(event) {
    pointers.delete(event.pointerId);
    if (event.type === "pointerup" && pointers.size === 0 && moved <= 4 && pressed) {
      showDetail(Number(pressed.dataset.i));
      pressed = null;
    }
  }
  svg.addEventListener("pointerup", release);
  svg.addEventListener("pointercancel", release);
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && !box.contains(document.activeElement)) return;
    event.preventDefault();
    const edge = svg.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.clientX - edge.left, event.clientY - edge.top);
  }, { passive: false });

  byId("zoom-in").addEventListener("click", () => zoom(1.4, svg.clientWidth / 2, svg.clientHeight / 2));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 1.4, svg.clientWidth / 2, svg.clientHeight / 2));
  byId("zoom-fit").addEventListener("click", () => {
    touched = false;
    fit();
  });
  window.addEventListener("resize", () => {
    if (!touched) fit();
  });
  // On paper the picture has another size than on the screen, which a view box fits by itself.
  window.addEventListener("beforeprint", () => {
    svg.setAttribute("viewBox", "-10 -10 " + (size.width + 20) + " " + (size.height + 20));
    view.removeAttribute("transform");
    svg.classList.remove("far");
  });
  window.addEventListener("afterprint", () => {
    svg.removeAttribute("viewBox");
    draw();
  });
  if (nodes.length) nodes[0].setAttribute("tabindex", "0");
  fit();
  return { select: select, mark: mark, centre: centre };
}
