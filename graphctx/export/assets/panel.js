// What is chosen, in words. Every text of a document becomes a text node: nothing in it is ever markup.

const panel = document.getElementById("panel");
const FIRST_NAMES = 40;

function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name === "tone") made.style.setProperty("--tone", value);
    else if (name === "onclick") made.addEventListener("click", value);
    else made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

function showPanel(node, choose) {
  const make = { root: ofRoot, community: ofCommunity, entity: ofEntity, document: ofDocument }[node.kind];
  panel.style.setProperty("--tone", node.tone ?? PLAIN);
  panel.replaceChildren(...make(node, choose).flat().filter(Boolean));
  panel.scrollTop = 0;
}

function heading(node) {
  return el("h2", {}, node.kind === "community" || node.kind === "entity" ? el("span", { class: "chip", "aria-hidden": "true" }) : "", node.title);
}

function section(title, ...content) {
  return content.flat().length ? [el("h3", {}, title), ...content.flat()] : [];
}

function ofRoot(node, choose) {
  return [
    heading(node),
    el("p", { class: "meta" }, counted()),
    data.narrowed.length ? el("p", { class: "meta" }, `Only ${data.narrowed.join(", ")}.`) : null,
    el("p", { class: "lead" }, "Names that documents relate to each other stand together in a circle. Open a circle to see what is in it, and what documents say of it; every sentence here is quoted from one."),
    ...section("Communities", communityList(node.children.filter((child) => child.kind === "community"), choose)),
    ...section("Not shown", data.leftOut.map((sentence) => el("p", { class: "meta" }, sentence))),
    el("p", { class: "meta lead" }, `Snapshot ${data.snapshot}`),
  ];
}

function ofCommunity(node, choose) {
  const inside = node.children.filter((child) => child.kind === "community");
  const said = [plural(node.entities, "name", "names"), node.units ? plural(node.units, "passage", "passages") : "", inside.length ? plural(inside.length, "community inside", "communities inside") : ""];
  return [
    heading(node),
    el("p", { class: "meta" }, said.filter(Boolean).join(" · ")),
    node.loose ? el("p", { class: "lead" }, "No fact and no sentence joins these names to others strongly enough.") : null,
    ...section("In a language model’s words", (node.phrased ?? []).map((sentence) => el("p", { class: "phrased" }, sentence))),
    ...section("Documents say", quotes(node.quotes, [])),
    ...section("Inside", communityList(inside, choose)),
    ...section("Names", names(node, choose)),
  ];
}

function ofEntity(node, choose) {
  const home = node.circle.parent.data;
  const related = (node.related ?? []).map(([at, said]) => row(tree.entities[at], said ?? "", choose));
  return [
    heading(node),
    el("p", { class: "meta" }, `${node.label} · named ${plural(node.mentions, "time", "times")} in ${plural(node.units, "passage", "passages")}`),
    node.aliases ? el("p", { class: "meta" }, `also ${node.aliases.join(", ")}`) : null,
    home.loose ? null : el("p", { class: "meta" }, "in ", el("a", { href: `#${home.id}` }, home.title)),
    ...section("Documents say", quotes(node.quotes, [node.name, ...(node.aliases ?? [])])),
    ...section("Related", related.length ? el("ul", { class: "list" }, related) : []),
  ];
}

function ofDocument(node) {
  return [
    heading(node),
    el("p", { class: "meta" }, node.uri),
    ...section("Quoted here", quotes(node.quotes, [], true)),
  ];
}

function communityList(communities, choose) {
  if (!communities.length) return [];
  const ordered = [...communities].sort((a, b) => Boolean(a.loose) - Boolean(b.loose) || b.circle.value - a.circle.value);
  return el("ul", { class: "list" }, ordered.map((node) => row(node, plural(node.entities, "name", "names"), choose)));
}

function row(node, more, choose) {
  return el("li", {}, el("button", { onclick: () => choose(node) },
    el("span", { class: "chip", tone: node.tone, "aria-hidden": "true" }),
    el("span", { class: "name" }, node.title),
    el("span", { class: "more" }, more)));
}

function names(community, choose) {
  const first = (community.key ?? []).map((at) => tree.entities[at]);
  const rest = community.members.filter((node) => !first.includes(node)).sort((a, b) => b.units - a.units);
  const ordered = [...first, ...rest];
  const box = el("div", { class: "names" });
  const add = (some) => box.append(...some.map((node) => el("button", { onclick: () => choose(node), tone: node.tone }, node.title)));
  add(ordered.slice(0, FIRST_NAMES));
  if (ordered.length > FIRST_NAMES) {
    const more = el("button", { class: "rest", onclick: () => { more.remove(); add(ordered.slice(FIRST_NAMES)); } }, `${ordered.length - FIRST_NAMES} more`);
    box.append(more);
  }
  return ordered.length ? box : [];
}

function quotes(numbers, marked, ofOne) {
  return (numbers ?? []).map((at) => {
    const quote = data.quotes[at];
    const document = documents[quote.document];
    const place = `${document.uri}${quote.line ? `:${quote.line}` : ""}${quote.page ? ` (page ${quote.page})` : ""}`;
    return el("figure", { class: "cited" },
      el("blockquote", quote.asis ? { class: "asis" } : {}, ...highlighted(quote.text, marked), quote.truncated ? " …" : ""),
      el("figcaption", {},
        ofOne ? "" : el("a", { href: `#${document.id}` }, document.title),
        quote.heading ? `${ofOne ? "" : " › "}${quote.heading}` : "",
        ofOne && !quote.heading ? "" : " — ",
        el("code", {}, place)));
  });
}

// A text with the names in it marked, as nodes.
function highlighted(text, marked) {
  const wanted = marked.filter((name) => name.length > 1).map((name) => name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&").replace(/\s+/gu, "\\s+"));
  if (!wanted.length) return [text];
  const parts = text.split(new RegExp(`((?<![\\p{L}\\p{N}])(?:${wanted.join("|")})(?![\\p{L}\\p{N}]))`, "giu"));
  return parts.map((part, at) => (at % 2 ? el("mark", {}, part) : part)).filter((part) => part !== "");
}
