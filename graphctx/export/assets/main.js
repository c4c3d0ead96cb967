// Choosing, finding and moving about. What is chosen stands in the address, so that back, forward and links work.

const trail = document.getElementById("trail");
const query = document.getElementById("query");
const found = document.getElementById("found");
const canvas = document.getElementById("canvas");
const said = document.getElementById("said");
let chosen = tree.root;
const map = drawMap(canvas, tree.root, { choose, hover: (node) => { said.textContent = `${node.title}, ${kindOf(node)}`; } });

function choose(node) {
  const hash = node.kind === "root" ? "" : `#${node.id}`;
  if (location.hash === hash) show(node);
  else if (hash) location.hash = hash;
  else {
    history.pushState(null, "", location.pathname + location.search);
    show(node);
  }
}

function ofAddress() {
  return nodes.get(location.hash.slice(1)) ?? tree.root;
}

function show(node, atOnce) {
  chosen = node;
  const related = node.kind === "entity" ? (node.related ?? []).map(([at]) => tree.entities[at]) : [];
  map.mark(node, new Set(related));
  map.goTo(node, atOnce);
  showPanel(node, choose);
  showTrail(node);
  said.textContent = node.title;
}

function above(node) {
  return node.circle?.parent?.data ?? tree.root;
}

function showTrail(node) {
  const way = node.circle ? node.circle.ancestors().reverse().map((circle) => circle.data) : [tree.root, node];
  const title = (step) => (step.kind === "root" ? "All" : step.title);
  trail.replaceChildren(...way.flatMap((step, at) => (at === way.length - 1
    ? [el("span", { class: "here", "aria-current": "page" }, title(step))]
    : [el("button", { onclick: () => choose(step) }, title(step)), el("span", { "aria-hidden": "true" }, "›")])));
}

// Finding

function showFound() {
  const results = find(query.value);
  const asked = query.value.trim() !== "";
  const lines = results.map((node, at) => {
    const line = el("li", { role: "option", id: `found-${at}`, "aria-selected": at === 0 ? "true" : "false" },
      el("span", {}, node.title), el("span", { class: "kind" }, kindOf(node)));
    line.addEventListener("mousedown", (event) => { event.preventDefault(); take(node); });
    line.node = node;
    return line;
  });
  found.replaceChildren(...(lines.length || !asked ? lines : [el("li", { class: "none" }, data.leftOut.length ? "Nothing of that name is shown here." : "Nothing is called so.")]));
  found.hidden = !asked;
  query.setAttribute("aria-expanded", String(asked));
  setActive(lines[0]);
}

function setActive(line) {
  for (const other of found.children) other.setAttribute("aria-selected", String(other === line));
  if (line) query.setAttribute("aria-activedescendant", line.id);
  else query.removeAttribute("aria-activedescendant");
  line?.scrollIntoView({ block: "nearest" });
}

function take(node) {
  closeFound();
  choose(node);
  panel.focus({ preventScroll: true });
}

function closeFound() {
  found.hidden = true;
  query.setAttribute("aria-expanded", "false");
}

query.addEventListener("input", showFound);
query.addEventListener("focus", showFound);
query.addEventListener("blur", closeFound);
query.addEventListener("keydown", (event) => {
  const lines = [...found.children].filter((line) => line.node);
  const at = lines.findIndex((line) => line.getAttribute("aria-selected") === "true");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && lines.length) {
    event.preventDefault();
    setActive(lines[(at + step + lines.length) % lines.length]);
  } else if (event.key === "Enter" && lines[at]) {
    take(lines[at].node);
  } else if (event.key === "Escape") {
    query.value = "";
    closeFound();
    canvas.focus();
    event.stopPropagation();
  }
});

canvas.addEventListener("keydown", map.key);

document.addEventListener("keydown", (event) => {
  if (event.target === query || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    query.focus();
    query.select();
  } else if (event.key === "Escape") {
    choose(above(chosen));
  }
});

document.getElementById("closer").addEventListener("click", () => map.zoomBy(1.6));
document.getElementById("farther").addEventListener("click", () => map.zoomBy(1 / 1.6));
document.getElementById("all").addEventListener("click", () => choose(tree.root));
addEventListener("hashchange", () => show(ofAddress()));
addEventListener("popstate", () => show(ofAddress()));

document.getElementById("project").textContent = data.project;
document.getElementById("counts").textContent = counted();
document.getElementById("nothing").hidden = tree.root.children.length > 0;
document.title = `${data.project}: map of communities`;
show(ofAddress(), true);
