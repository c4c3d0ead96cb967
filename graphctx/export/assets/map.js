// The map: circles in circles, panned and zoomed. What fills the view is open, and shows the names of what is in it.

const svg = d3.select("#canvas");
const SVG = "http://www.w3.org/2000/svg";
const OPEN = 0.55; // of the smaller side of the view, that a circle's diameter has to be to be open
const FILLS = 0.88; // of the smaller side, that a community takes when one goes to it
const ENTITY_FILLS = 0.3;
const LEAST_LABEL = 15; // pixels of radius
const SMALLEST = 11; // pixels of letters
const LEAST_LETTERS = 4; // of a cut line; less says nothing
const pen = document.createElement("canvas").getContext("2d");
const FONT = getComputedStyle(document.body).fontFamily;
const still = matchMedia("(prefers-reduced-motion: reduce)");

const map = {
  packed: layOut(),
  view: { x: 0, y: 0, k: 1 },
  width: 0,
  height: 0,
  drawn: [],
};

function drawMap(choose) {
  const world = svg.append("g").node();
  const labels = svg.append("g").attr("id", "labels").node();
  for (const circle of map.packed.descendants()) {
    if (circle.data.kind === "root") continue;
    const shape = document.createElementNS(SVG, "circle");
    const { kind, loose, tone, title } = circle.data;
    shape.setAttribute("class", `${kind} d${circle.depth}${loose ? " loose" : ""}`);
    shape.setAttribute("cx", circle.x);
    shape.setAttribute("cy", circle.y);
    shape.setAttribute("r", circle.r);
    shape.style.setProperty("--tone", tone);
    const tip = document.createElementNS(SVG, "title");
    tip.textContent = title;
    shape.append(tip);
    shape.addEventListener("click", () => choose(target(circle)));
    circle.shape = shape;
    world.append(shape);
    map.drawn.push(circle);
  }
  map.world = world;
  map.labels = labels;
  map.zoom = d3.zoom().on("zoom", (event) => { map.view = event.transform; place(); });
  svg.call(map.zoom).on("dblclick.zoom", null);
  new ResizeObserver(resize).observe(document.getElementById("map"));
  resize();
}

// A click goes one step inwards: to the outermost closed circle around what was clicked.
function target(circle) {
  const closed = circle.ancestors().reverse().find((above) => !above.open);
  return (closed ?? circle).data;
}

function resize() {
  const box = document.getElementById("map").getBoundingClientRect();
  if (!box.width || !box.height) return;
  map.width = box.width;
  map.height = box.height;
  const least = Math.min(...map.drawn.map((circle) => circle.r), 500);
  const reach = Math.max(8, (0.5 * side()) / (2 * least * unit()));
  map.zoom.scaleExtent([0.8, reach]).extent([[0, 0], [map.width, map.height]]);
  const slack = side() * 0.6;
  map.zoom.translateExtent([[-slack, -slack], [map.width + slack, map.height + slack]]);
  if (map.at) svg.call(map.zoom.transform, viewOf(map.at));
  place();
}

function side() {
  return Math.min(map.width, map.height);
}

// Pixels for a unit of the square, before zooming.
function unit() {
  return (side() * 0.96) / 1000;
}

function onScreen(circle) {
  const k = map.view.k * unit();
  return {
    x: map.view.x + ((circle.x - 500) * unit() + map.width / 2) * map.view.k,
    y: map.view.y + ((circle.y - 500) * unit() + map.height / 2) * map.view.k,
    r: circle.r * k,
  };
}

function viewOf(node) {
  const circle = node.circle;
  if (!circle || circle.depth === 0) return d3.zoomIdentity;
  const share = node.kind === "entity" ? ENTITY_FILLS : FILLS;
  const [, reach] = map.zoom.scaleExtent();
  const k = Math.min((share * side()) / (2 * circle.r * unit()), reach);
  const x = (circle.x - 500) * unit() + map.width / 2;
  const y = (circle.y - 500) * unit() + map.height / 2;
  return d3.zoomIdentity.translate(map.width / 2 - x * k, map.height / 2 - y * k).scale(k);
}

// Go to a node; nodes without a circle leave the map as it is.
function goTo(node, atOnce) {
  if (!node.circle) return;
  map.at = node;
  if (atOnce || still.matches || document.hidden) svg.interrupt().call(map.zoom.transform, viewOf(node));
  else svg.transition().duration(650).call(map.zoom.transform, viewOf(node));
}

function zoomBy(factor) {
  map.at = null;
  (still.matches ? svg : svg.transition().duration(200)).call(map.zoom.scaleBy, factor);
}

function mark(chosen, related) {
  for (const circle of map.drawn) {
    circle.shape.classList.toggle("chosen", circle.data === chosen);
    circle.shape.classList.toggle("related", related.has(circle.data));
  }
  map.chosen = chosen;
  place();
}

function place() {
  if (!map.world || !map.width) return;
  const k = map.view.k * unit();
  const [x, y] = [map.view.x + (map.width / 2 - 500 * unit()) * map.view.k, map.view.y + (map.height / 2 - 500 * unit()) * map.view.k];
  map.world.setAttribute("transform", `translate(${x},${y}) scale(${k})`);
  const texts = [];
  map.packed.open = true;
  for (const circle of map.drawn) { // parents come before what is in them
    const at = onScreen(circle);
    const inside = circle.parent.open;
    circle.open = circle.data.kind !== "entity" && at.r * 2 > side() * OPEN;
    const closed = !inside && circle.data.kind === "entity";
    if (closed !== circle.closed) circle.shape.classList.toggle("closed", closed);
    circle.closed = closed;
    const seen = at.x + at.r > 0 && at.x - at.r < map.width && at.y + at.r > 0 && at.y - at.r < map.height;
    if (inside && !circle.open && seen && at.r >= LEAST_LABEL) texts.push(...label(circle, at));
  }
  map.labels.replaceChildren(...texts);
}

// The name of a circle in as many lines as it has room for: a community's names one a line, an entity's words together.
function label(circle, at) {
  const community = circle.data.kind === "community";
  const { lines, size } = broken(circle, Math.round(at.r), community);
  return lines.map((line, n) => {
    const text = document.createElementNS(SVG, "text");
    text.textContent = line;
    text.setAttribute("x", at.x);
    text.setAttribute("y", at.y + (n - (lines.length - 1) / 2) * size * 1.2);
    text.setAttribute("font-size", size);
    text.setAttribute("class", `${community ? "of-community" : "of-entity"}${circle.data === map.chosen ? " chosen" : ""}`);
    return text;
  });
}

// In the largest letters in which all of it fits, else in the smallest, cut.
function broken(circle, r, community) {
  if (circle.broken?.r === r) return circle.broken;
  const largest = Math.round(community ? Math.max(SMALLEST, Math.min(19, r / 4.5)) : Math.max(SMALLEST, Math.min(17, r / 3.2)));
  for (let size = largest; size >= SMALLEST; size -= 1) {
    pen.font = `${community ? 650 : 400} ${size}px ${FONT}`;
    const most = Math.max(1, Math.min(community ? 3 : 4, Math.floor((r * 1.6) / (size * 1.2))));
    const parts = community ? circle.data.title.split(", ") : wrap(circle.data.title, r * 1.75, most);
    const lines = parts.slice(0, most);
    const width = (n) => 2 * Math.sqrt(Math.max(0, r ** 2 - ((Math.abs(n - (lines.length - 1) / 2) + 0.5) * size * 1.1) ** 2)) - 3;
    const whole = lines.length === parts.length && lines.every((line, n) => pen.measureText(line).width <= width(n));
    if (!whole && size > SMALLEST) continue;
    const cut = lines.map((line, n) => clipped(line, width(n)));
    circle.broken = { r, size, lines: community ? cut.filter(Boolean) : begun(cut) };
    break;
  }
  return circle.broken;
}

// The lines up to the first that did not fit, marked as a beginning; a community is told by any of its names instead.
function begun(lines) {
  const end = lines.indexOf("");
  const kept = end < 0 ? lines : lines.slice(0, end);
  if (end > 0 && !kept.at(-1).endsWith("…")) kept.push(`${kept.pop()}…`);
  return end < 0 || kept.join(" ").length > LEAST_LETTERS ? kept : [];
}

function wrap(title, width, most) {
  const lines = [];
  for (const word of title.split(" ")) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && (pen.measureText(longer).width <= width || lines.length === most)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

// As much of a line as is no wider; nothing where that would say nothing.
function clipped(line, width) {
  if (pen.measureText(line).width <= width) return line;
  const characters = Array.from(line);
  let [low, high] = [0, characters.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(`${characters.slice(0, middle).join("")}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low < LEAST_LETTERS ? "" : `${characters.slice(0, low).join("").trimEnd()}…`;
}
