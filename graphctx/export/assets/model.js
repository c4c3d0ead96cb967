// What the page is about: the data as it was written, the tree of circles, and finding by name.

const data = JSON.parse(document.getElementById("data").textContent);

const SPLIT = /[\s_\-./:]+/u;
const SHOWN = 12;

function fold(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

function plural(count, one, many) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

// How much there is, and how much of it is shown.
function counted() {
  const of = (shown, all) => (shown === all ? "" : `${shown.toLocaleString("en")} of `);
  const { documents, entities, communities } = data.counts;
  return [
    plural(documents, "document", "documents"),
    of(data.entities.length, entities) + plural(entities, "name", "names"),
    of(data.communities.length, communities) + plural(communities, "community", "communities"),
  ].join(" · ");
}

// A node of the tree: the root, a community or an entity, with what belongs to it. The area of an entity grows with the
// passages that name it, but less.
function makeTree() {
  const root = { kind: "root", id: "", title: data.project, children: [] };
  const communities = data.communities.map((community) => ({ kind: "community", ...community, children: [], members: [] }));
  const loose = { kind: "community", id: "none", title: "In no community", loose: true, level: 0, children: [], members: [], key: [] };
  for (const node of communities) (communities[node.parent] ?? root).children.push(node);
  const entities = data.entities.map((entity) => ({ kind: "entity", ...entity, title: entity.name, size: entity.units ** 0.6 }));
  for (const node of entities) {
    const home = communities[node.community] ?? loose;
    home.children.push(node);
    for (let above = home; above; above = communities[above.parent]) above.members.push(node);
  }
  if (loose.members.length) {
    loose.entities = loose.members.length;
    root.children.push(loose);
  }
  return { root, communities, entities, loose };
}

const tree = makeTree();
const documents = data.documents.map((document, at) => ({ kind: "document", ...document, at, quotes: [], tone: PLAIN }));
data.quotes.forEach((quote, at) => documents[quote.document].quotes.push(at));

const nodes = new Map([tree.root, ...tree.communities, ...tree.entities, tree.loose, ...documents].map((node) => [node.id, node]));

// What a name is compared by; the kinds in the order in which equals are shown.
const RANK = { community: 0, entity: 1, document: 2 };
const searched = [...tree.communities, ...tree.entities, ...documents].map((node) => ({
  node,
  names: [node.title, ...(node.aliases ?? []), ...(node.kind === "document" ? [node.uri] : [])].map(fold),
  weight: node.units ?? node.quotes.length,
}));

function fit(name, query) {
  if (name === query) return 0;
  if (name.startsWith(query)) return 1;
  if (name.split(SPLIT).some((word) => word.startsWith(query))) return 2;
  return name.includes(query) ? 3 : 4;
}

// The nodes whose names fit best: whole names, beginnings, beginnings of words, anything inside.
function find(text) {
  const query = fold(text.trim());
  if (!query) return [];
  return searched
    .map((item) => ({ ...item, fit: Math.min(...item.names.map((name) => fit(name, query))) }))
    .filter((item) => item.fit < 4)
    .sort((a, b) => a.fit - b.fit || RANK[a.node.kind] - RANK[b.node.kind] || b.weight - a.weight)
    .slice(0, SHOWN)
    .map((item) => item.node);
}

function kindOf(node) {
  return node.kind === "entity" ? node.label : node.kind;
}
