// The canvas of the graph view: names as nodes, relations as lines. What it shows is listed beside it.
import { EdgeLineProgram, Graph, NodePointProgram, Sigma } from "../vendor/graph.js";
import { PLAIN, TONES } from "./tones.js";
import { visible } from "./text.js";

export const NUMERALS = ["①", "②", "③", "④", "⑤", "⑥", "⑦", "⑧"];
const MOVED = 1_000; // nodes that move to new places before one's eyes; more appear there
const MOVE_MS = 400;
const REACH = 6; // pixels from a line at which the pointer is on it; the line itself is too thin to hit
const PAN = 0.15; // of the view, by an arrow key
const LABELLED = 30; // nodes that all have their names at once
const SMALLEST = 3, LARGEST = 14; // radius of a node, in pixels
const LABEL = 32; // characters of a name in the drawing

/** Return the name of a node with the numeral of its community, which identifies it without colour. */
export const labelled = (node) => `${node.group < 0 ? "" : `${NUMERALS[node.group]} `}${visible(node.name)}`;

const blend = (one, other, share) => `#${[1, 3, 5].map((at) => {
  const [a, b] = [one, other].map((colour) => parseInt(colour.slice(at, at + 2), 16));
  return Math.round(a + (b - a) * share).toString(16).padStart(2, "0");
}).join("")}`;

const shortened = (name) => (name.length > LABEL ? `${name.slice(0, LABEL - 1).trimEnd()}…` : name);

function colours() {
  const style = getComputedStyle(document.documentElement);
  const found = (name) => {
    const value = style.getPropertyValue(name).trim();
    return value.length === 4 ? `#${[...value.slice(1)].map((digit) => digit + digit).join("")}` : value;
  };
  const [ground, text, line, accent, raised] = ["--ground", "--text", "--line", "--accent", "--raised"].map(found);
  const tones = [...TONES, PLAIN].map((tone) => blend(tone, text, 0.25)); // three to one on either ground
  return { ground, text, line: blend(line, text, 0.12), faint: blend(ground, line, 0.7), accent, raised, tones };
}

/**
 * Draw into an element. `select(id)`, `expand(id)` and `hover([id, id] | undefined, fixed)` are called as the pointer
 * and the keys say. Returns { show, emphasise, zoomBy, reset, key, remove, sigma }; throws where there is no WebGL.
 */
export function drawNetwork(element, { select, expand, hover }) {
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = () => element.clientWidth < 500;
  let paint = colours();
  let drawing, marks = {}, near = new Set(), moving = 0;

  const font = (settings) => `${settings.labelWeight} ${settings.labelSize}px ${settings.labelFont}`;
  function drawLabel(context, data, settings) {
    if (!data.label) return;
    context.font = font(settings);
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeStyle = paint.ground;
    context.fillStyle = paint.text;
    const x = data.x + data.size + 3, y = data.y + settings.labelSize / 3;
    context.strokeText(data.label, x, y);
    context.fillText(data.label, x, y);
  }
  function drawHover(context, data, settings) {
    context.font = font(settings);
    const width = data.label ? context.measureText(data.label).width + data.size + 8 : 0;
    const half = Math.max(data.size + 3, settings.labelSize * 0.8);
    context.fillStyle = paint.raised;
    context.strokeStyle = paint.accent;
    context.lineWidth = 1.5;
    context.beginPath();
    context.roundRect(data.x - half, data.y - half, half + width, 2 * half, half);
    context.fill();
    context.stroke();
    drawLabel(context, data, settings);
  }

  const sigma = new Sigma(new Graph(), element, {
    allowInvalidContainer: true,
    labelFont: getComputedStyle(document.body).fontFamily,
    labelSize: 13,
    labelDensity: 0.6,
    labelGridCellSize: 110,
    stagePadding: narrow() ? 24 : 50,
    labelRenderedSizeThreshold: 5,
    zIndex: true,
    nodeProgramClasses: { point: NodePointProgram },
    edgeProgramClasses: { thin: EdgeLineProgram },
    zoomToSizeRatioFunction: (ratio) => ratio ** 0.35, // nodes grow less than the space between them
    minCameraRatio: 0.02,
    maxCameraRatio: 4,
    defaultDrawNodeLabel: drawLabel,
    defaultDrawNodeHover: drawHover,
    nodeReducer: (id, data) => {
      const { selected, group, path } = marks;
      const shown = { ...data, color: paint.tones[data.group < 0 ? TONES.length : data.group] };
      const lit = path?.nodes.size ? path.nodes.has(id)
        : group !== undefined ? data.group === group
        : selected ? id === selected || near.has(id) : true;
      if (!lit) Object.assign(shown, { color: paint.faint, label: "", forceLabel: false, zIndex: 0 });
      else if (path?.nodes.size || id === selected || data.centre) Object.assign(shown, { forceLabel: true, zIndex: 2 });
      if (id === selected) shown.highlighted = true;
      return shown;
    },
    edgeReducer: (edge, data) => {
      const { selected, hovered, group, path } = marks;
      const [one, other] = data.ends;
      const touches = (id) => one === id || other === id;
      const shown = { ...data, color: data.many ? paint.faint : paint.line, zIndex: 0 };
      if (path?.nodes.size) {
        if (path.steps.has(`${one}|${other}`)) Object.assign(shown, { color: paint.accent, size: 4, zIndex: 2 });
        else shown.color = paint.faint;
      } else if (selected && touches(selected)) Object.assign(shown, { color: paint.accent, zIndex: 1 });
      else if (selected || group !== undefined) shown.color = paint.faint;
      if (hovered && touches(hovered[0]) && touches(hovered[1])) {
        Object.assign(shown, { color: paint.accent, size: data.size + 2, zIndex: 3 });
      }
      return shown;
    },
  });

  // sigma takes two slow clicks for single ones where the browser, by the clock of its events, saw a double click
  sigma.on("clickNode", ({ node, event }) => (event.original.detail > 1 ? expand : select)(node));
  sigma.on("doubleClickNode", (event) => { event.preventSigmaDefault(); expand(event.node); });
  let pointed; // the ends of the line under the pointer
  const point = (ends) => {
    if (ends !== pointed) hover((pointed = ends));
  };
  sigma.on("moveBody", ({ event }) => point(event.original?.buttons ? undefined : lineAt(event)));
  sigma.on("enterNode", () => point(undefined));
  sigma.on("leaveStage", () => point(undefined));
  sigma.on("clickStage", ({ event }) => {
    const ends = lineAt(event);
    if (!ends) select(undefined);
    hover(ends, true);
  });

  /** Return the ends of the line next to a point, unless a node is under the pointer. */
  function lineAt({ x, y }) {
    const graph = sigma.getGraph(), spots = new Map();
    let found, least = REACH, covered = false;
    graph.forEachNode((id, node) => {
      const spot = sigma.graphToViewport(node);
      spots.set(id, spot);
      covered ||= Math.hypot(spot.x - x, spot.y - y) <= sigma.scaleSize(node.size);
    });
    if (covered) return undefined;
    graph.forEachEdge((_, line, from, to) => {
      const a = spots.get(from), b = spots.get(to), dx = b.x - a.x, dy = b.y - a.y;
      const along = Math.max(0, Math.min(1, ((x - a.x) * dx + (y - a.y) * dy) / (dx * dx + dy * dy || 1)));
      const distance = Math.hypot(a.x + along * dx - x, a.y + along * dy - y);
      if (distance < least) [found, least] = [line.ends, distance];
    });
    return found;
  }

  const recolour = () => { paint = colours(); sigma.refresh({ skipIndexation: true }); };
  const themed = new MutationObserver(recolour);
  themed.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  dark.addEventListener("change", recolour);

  /** Show a drawing of the server; nodes that were shown move to their new places. */
  function show(next, centres) {
    cancelAnimationFrame(moving);
    const before = sigma.getGraph();
    const graph = new Graph();
    const places = turned(next.nodes, before);
    const { nodes } = next;
    const crowded = nodes.length > 400, many = nodes.length > 1_500;
    const most = nodes.reduce((found, node) => Math.max(found, node.n_units), 16);
    nodes.forEach((node, at) => graph.addNode(node.id, {
      ...places[at],
      ...(crowded && { type: "point" }),
      group: node.group,
      label: shortened(labelled(node)),
      forceLabel: nodes.length <= (narrow() ? LABELLED / 4 : LABELLED),
      size: (SMALLEST + (LARGEST - SMALLEST) * Math.sqrt(node.n_units / most)) * (many ? 0.5 : crowded ? 0.75 : 1),
      centre: centres.has(node.id),
      zIndex: 1,
    }));
    for (const [one, other, weight] of next.relations) {
      const ends = [nodes[one].id, nodes[other].id];
      graph.addEdgeWithKey(ends.join("|"), ...ends, { ...(crowded && { type: "thin" }), ends, many, size: many ? 0.5 : Math.min(4, 0.8 + weight / 2) });
    }
    sigma.setSetting("hideEdgesOnMove", many);
    sigma.setSetting("hideLabelsOnMove", many);
    sigma.setSetting("minEdgeThickness", many ? 0.6 : 1.7);
    sigma.setCustomBBox(boxOf(places));
    const first = !drawing;
    drawing = next;
    if (first || still.matches || document.hidden || nodes.length > MOVED) {
      sigma.setGraph(graph);
      return;
    }
    const starts = nodes.map((node, at) => (before.hasNode(node.id) ? spot(before, node.id) : places[at]));
    nodes.forEach((node, at) => graph.mergeNodeAttributes(node.id, starts[at]));
    sigma.setGraph(graph);
    const began = performance.now();
    const step = (now) => {
      const share = Math.min(1, (now - began) / MOVE_MS), eased = share * (2 - share);
      graph.updateEachNodeAttributes((id, attributes) => {
        const at = index.get(id);
        attributes.x = starts[at].x + (places[at].x - starts[at].x) * eased;
        attributes.y = starts[at].y + (places[at].y - starts[at].y) * eased;
        return attributes;
      }, { attributes: ["x", "y"] });
      if (share < 1) moving = requestAnimationFrame(step);
    };
    const index = new Map(nodes.map((node, at) => [node.id, at]));
    moving = requestAnimationFrame(step);
  }

  /** Emphasise { selected, hovered, group, path } and dim the rest. */
  function emphasise(next) {
    marks = next;
    const graph = sigma.getGraph();
    near = new Set(marks.selected && graph.hasNode(marks.selected) ? graph.neighbors(marks.selected) : []);
    sigma.refresh({ skipIndexation: true });
  }

  const camera = sigma.getCamera();
  const time = () => ({ duration: still.matches ? 0 : 200 });
  const zoomBy = (factor) => camera.animate({ ratio: sigma.getCamera().getBoundedRatio(camera.ratio / factor) }, time());
  const reset = () => camera.animate({ x: 0.5, y: 0.5, ratio: 1, angle: 0 }, time());
  const pan = (x, y) => camera.animate({ x: camera.x + x * PAN * camera.ratio, y: camera.y + y * PAN * camera.ratio }, time());
  const keys = {
    ArrowLeft: () => pan(-1, 0), ArrowRight: () => pan(1, 0), ArrowUp: () => pan(0, 1), ArrowDown: () => pan(0, -1),
    "+": () => zoomBy(1.6), "=": () => zoomBy(1.6), "-": () => zoomBy(1 / 1.6), Home: reset,
    Enter: () => marks.selected && expand(marks.selected),
    Escape: () => select(undefined),
  };

  /** Do what a key says. */
  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  /** Take the canvas away. */
  function remove() {
    cancelAnimationFrame(moving);
    themed.disconnect();
    dark.removeEventListener("change", recolour);
    sigma.kill();
  }

  return { show, emphasise, zoomBy, reset, key, remove, sigma };
}

const spot = (graph, id) => ({ x: graph.getNodeAttribute(id, "x"), y: graph.getNodeAttribute(id, "y") });

function boxOf(places) {
  const span = (name) => places.reduce(
    ([low, high], place) => [Math.min(low, place[name]), Math.max(high, place[name])], [Infinity, -Infinity]);
  return places.length ? { x: span("x"), y: span("y") } : { x: [0, 1], y: [0, 1] };
}

/** Return the places of nodes, turned so that those that were shown stay as close to where they were as they can. */
function turned(nodes, before) {
  let along = 0, across = 0;
  for (const node of nodes) {
    if (!before.hasNode(node.id)) continue;
    const old = spot(before, node.id);
    along += node.x * old.x + node.y * old.y;
    across += node.x * old.y - node.y * old.x;
  }
  const angle = Math.atan2(across, along), cos = Math.cos(angle), sin = Math.sin(angle);
  return nodes.map(({ x, y }) => ({ x: x * cos - y * sin, y: x * sin + y * cos }));
}
