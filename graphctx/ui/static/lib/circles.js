// The map: circles in circles, panned and zoomed. What fills the view is open, and shows the names of what is in it.
// The page draws communities with it, and an exported page communities with the entities in them.
//
// A node is { kind: "root" | "community" | "entity", id, title, children, size }; `size` is the area of one without
// children. Of the nodes the map sets `tone`, a colour, and `circle`, its place.
import { hierarchy, pack, select, zoom, zoomIdentity } from "../vendor/map.js";
import { PLAIN, TONES } from "./tones.js";

const SVG = "http://www.w3.org/2000/svg";
const SIDE = 1000; // of the square that the circles are laid out in
const OPEN = 0.55; // of the smaller side of the view, that a circle's diameter has to be to be open
const FILLS = 0.88; // of the smaller side, that a community takes when one goes to it
const ENTITY_FILLS = 0.3;
const LEAST_LABEL = 15; // pixels of radius
const SMALLEST = 11; // pixels of letters
const LEAST_LETTERS = 4; // of a cut line; less says nothing
const STEP = 1.6; // of the zoom, by key or button

/**
 * Draw a tree of nodes into an <svg>. `choose(node)` is called with a node that is clicked or opened by a key, and
 * `hover(node)` with one that the arrow keys lead to. Returns { goTo, mark, zoomBy, key, remove }.
 */
export function drawMap(element, root, { choose, hover }) {
  const svg = select(element);
  const pen = document.createElement("canvas").getContext("2d");
  const font = getComputedStyle(document.body).fontFamily;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const packed = layOut(root);
  const drawn = packed.descendants().filter((circle) => circle.data.kind !== "root");
  const world = element.appendChild(document.createElementNS(SVG, "g"));
  const labels = element.appendChild(document.createElementNS(SVG, "g"));
  labels.setAttribute("class", "labels");
  let view = zoomIdentity;
  let width = 0, height = 0;
  let at = null, chosen = root, cursor = null;

  for (const circle of drawn) {
    const { kind, loose, tone, title } = circle.data;
    const shape = document.createElementNS(SVG, "circle");
    shape.setAttribute("class", `${kind} d${circle.depth}${loose ? " loose" : ""}`);
    for (const [name, value] of [["cx", circle.x], ["cy", circle.y], ["r", circle.r]]) shape.setAttribute(name, value);
    shape.style.setProperty("--tone", tone);
    shape.append(Object.assign(document.createElementNS(SVG, "title"), { textContent: title }));
    shape.addEventListener("click", () => choose(target(circle)));
    circle.shape = shape;
    world.append(shape);
  }
  const zooming = zoom().on("zoom", (event) => { view = event.transform; place(); });
  svg.call(zooming).on("dblclick.zoom", null);
  const watched = new ResizeObserver(resize);
  watched.observe(element);
  resize();

  // A click goes one step inwards: to the outermost closed circle around what was clicked.
  function target(circle) {
    return (circle.ancestors().reverse().find((above) => !above.open) ?? circle).data;
  }

  function resize() {
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height) return;
    [width, height] = [box.width, box.height];
    const least = drawn.reduce((smallest, circle) => Math.min(smallest, circle.r), SIDE / 2);
    const reach = Math.max(8, (0.5 * side()) / (2 * least * unit()));
    const slack = side() * 0.6;
    zooming.scaleExtent([0.8, reach]).extent([[0, 0], [width, height]]);
    zooming.translateExtent([[-slack, -slack], [width + slack, height + slack]]);
    if (at) svg.call(zooming.transform, viewOf(at));
    place();
  }

  function side() {
    return Math.min(width, height);
  }

  // Pixels for a unit of the square, before zooming.
  function unit() {
    return (side() * 0.96) / SIDE;
  }

  function viewOf(node) {
    const circle = node.circle;
    if (circle.depth === 0) return zoomIdentity;
    const share = node.kind === "entity" ? ENTITY_FILLS : FILLS;
    const [, reach] = zooming.scaleExtent();
    const k = Math.min((share * side()) / (2 * circle.r * unit()), reach);
    const x = (circle.x - SIDE / 2) * unit() + width / 2;
    const y = (circle.y - SIDE / 2) * unit() + height / 2;
    return zoomIdentity.translate(width / 2 - x * k, height / 2 - y * k).scale(k);
  }

  /** Go to a node; a node without a circle leaves the map as it is. */
  function goTo(node, atOnce = false) {
    if (!node.circle) return;
    at = node;
    if (atOnce || still.matches || document.hidden || !width) svg.interrupt().call(zooming.transform, viewOf(node));
    else svg.transition().duration(650).call(zooming.transform, viewOf(node));
  }

  function zoomBy(factor) {
    at = null;
    (still.matches ? svg : svg.transition().duration(200)).call(zooming.scaleBy, factor);
  }

  /** Mark a node as chosen, and others as related to it. */
  function mark(node, related = new Set()) {
    for (const circle of drawn) {
      circle.shape.classList.toggle("chosen", circle.data === node);
      circle.shape.classList.toggle("related", related.has(circle.data));
    }
    chosen = node;
    setCursor(null);
    place();
  }

  function setCursor(node) {
    cursor?.circle.shape.classList.remove("cursor");
    cursor = node;
    if (!node) return;
    node.circle.shape.classList.add("cursor");
    hover(node);
  }

  // The cursor goes round among what is directly inside what is chosen.
  function moveCursor(step) {
    const inside = chosen.circle?.children ?? chosen.circle?.parent?.children ?? packed.children ?? [];
    if (!inside.length) return;
    const now = inside.findIndex((circle) => circle.data === (cursor ?? chosen));
    setCursor(inside[now < 0 ? (step > 0 ? 0 : inside.length - 1) : (now + step + inside.length) % inside.length].data);
  }

  const keys = {
    ArrowRight: () => moveCursor(1),
    ArrowDown: () => moveCursor(1),
    ArrowLeft: () => moveCursor(-1),
    ArrowUp: () => moveCursor(-1),
    Enter: () => cursor && choose(cursor),
    Home: () => choose(root),
    "+": () => zoomBy(STEP),
    "=": () => zoomBy(STEP),
    "-": () => zoomBy(1 / STEP),
  };

  /** Do what a key says. */
  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  function place() {
    if (!width) return;
    const k = view.k * unit();
    const x = view.x + (width / 2 - (SIDE / 2) * unit()) * view.k;
    const y = view.y + (height / 2 - (SIDE / 2) * unit()) * view.k;
    world.setAttribute("transform", `translate(${x},${y}) scale(${k})`);
    const texts = [];
    packed.open = true;
    for (const circle of drawn) { // parents come before what is in them
      const spot = { x: x + circle.x * k, y: y + circle.y * k, r: circle.r * k };
      const inside = circle.parent.open;
      circle.open = Boolean(circle.children) && spot.r * 2 > side() * OPEN;
      const closed = !inside && circle.data.kind === "entity";
      if (closed !== circle.closed) circle.shape.classList.toggle("closed", closed);
      circle.closed = closed;
      const seen = spot.x + spot.r > 0 && spot.x - spot.r < width && spot.y + spot.r > 0 && spot.y - spot.r < height;
      if (inside && !circle.open && seen && spot.r >= LEAST_LABEL) texts.push(...label(circle, spot));
    }
    labels.replaceChildren(...texts);
  }

  // The name of a circle in as many lines as it has room for: a community's names one a line, else the words together.
  function label(circle, spot) {
    const community = circle.data.kind === "community";
    const { lines, size } = broken(circle, Math.round(spot.r), community);
    return lines.map((line, n) => {
      const text = document.createElementNS(SVG, "text");
      text.textContent = line;
      text.setAttribute("x", spot.x);
      text.setAttribute("y", spot.y + (n - (lines.length - 1) / 2) * size * 1.2);
      text.setAttribute("font-size", size);
      text.setAttribute("class", `of-${circle.data.kind}${circle.data === chosen ? " chosen" : ""}`);
      return text;
    });
  }

  // In the largest letters in which all of it fits, else in the smallest, cut.
  function broken(circle, r, community) {
    if (circle.broken?.r === r) return circle.broken;
    const largest = community ? Math.min(19, r / 4.5) : Math.min(17, r / 3.2);
    for (let size = Math.max(SMALLEST, Math.round(largest)); size >= SMALLEST; size -= 1) {
      pen.font = `${community ? 650 : 400} ${size}px ${font}`;
      const most = Math.max(1, Math.min(community ? 3 : 4, Math.floor((r * 1.6) / (size * 1.2))));
      const names = circle.data.title.split(", ");
      const parts = community && names.length > 1 ? names : wrap(circle.data.title, r * 1.75, most);
      const lines = parts.slice(0, most);
      const middle = (lines.length - 1) / 2;
      const room = (n) => 2 * Math.sqrt(Math.max(0, r ** 2 - ((Math.abs(n - middle) + 0.5) * size * 1.1) ** 2)) - 3;
      const whole = lines.length === parts.length && lines.every((line, n) => pen.measureText(line).width <= room(n));
      if (!whole && size > SMALLEST) continue;
      const cut = lines.map((line, n) => clipped(line, room(n)));
      circle.broken = { r, size, lines: community && names.length > 1 ? cut.filter(Boolean) : begun(cut) };
      break;
    }
    return circle.broken;
  }

  function wrap(title, most, lines) {
    const wrapped = [];
    for (const word of title.split(" ")) {
      const longer = wrapped.length ? `${wrapped.at(-1)} ${word}` : word;
      if (wrapped.length && (pen.measureText(longer).width <= most || wrapped.length === lines)) {
        wrapped[wrapped.length - 1] = longer;
      } else wrapped.push(word);
    }
    return wrapped;
  }

  // As much of a line as is no wider; nothing where that would say nothing.
  function clipped(line, most) {
    if (pen.measureText(line).width <= most) return line;
    const characters = Array.from(line);
    let [low, high] = [0, characters.length];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (pen.measureText(`${characters.slice(0, middle).join("")}…`).width <= most) low = middle;
      else high = middle - 1;
    }
    return low < LEAST_LETTERS ? "" : `${characters.slice(0, low).join("").trimEnd()}…`;
  }

  /** Take the map away. */
  function remove() {
    watched.disconnect();
    svg.interrupt().on(".zoom", null);
    element.replaceChildren();
  }

  return { goTo, mark, zoomBy, key, remove };
}

/** Set `circle` and `tone` of all nodes of a tree, and return its circles; equal ones keep the order of the tree. */
function layOut(root) {
  const packed = hierarchy(root).sum((node) => node.size ?? 0).sort((a, b) => b.value - a.value);
  pack().size([SIDE, SIDE]).padding((node) => (node.depth === 0 ? 9 : node.depth === 1 ? 3 : 1.2))(packed);
  packed.children?.forEach((child, at) => {
    const tone = child.data.loose ? PLAIN : TONES[at % TONES.length];
    child.each((node) => { node.data.tone = tone; });
  });
  packed.each((node) => { node.data.circle = node; });
  root.tone = PLAIN;
  return packed;
}

// The lines up to the first that did not fit, marked as a beginning.
function begun(lines) {
  const end = lines.indexOf("");
  const kept = end < 0 ? lines : lines.slice(0, end);
  if (end > 0 && !kept.at(-1).endsWith("…")) kept.push(`${kept.pop()}…`);
  return end < 0 || kept.join(" ").length > LEAST_LETTERS ? kept : [];
}
