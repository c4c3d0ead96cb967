// Graph: names and how documents relate them: around names, around an answer, on the way between two, or of the whole.
import { html, useEffect, useMemo, useRef, useState } from "../lib/html.js";
import { call, tool, useLoaded } from "../lib/api.js";
import { drawNetwork, labelled, NUMERALS } from "../lib/network.js";
import { Empty, Loaded, Loading, Problem } from "../lib/parts.js";
import { withReadable } from "../lib/readable.js";
import { go, link } from "../lib/router.js";
import { number, plural, visible } from "../lib/text.js";
import { TONES } from "../lib/tones.js";
import { Chip } from "../parts/chip.js";
import { Cited } from "../parts/cited.js";

const WHOLE = [200, 1_000, 5_000]; // names of the whole graph that may be chosen
const NEAR = 40;
const LISTED = 60;
const SAYINGS = 3;

/** What the address says. */
function read(params) {
  return {
    id: params.getAll("id"),
    near: Number(params.get("near")) || NEAR,
    most: Number(params.get("most")) || WHOLE[0],
    q: params.get("q") ?? "",
    from: params.get("from") ?? "",
    to: params.get("to") ?? "",
    at: params.get("at") ?? "",
  };
}

const written = ({ near, most, ...rest }) => ({
  ...rest, near: near === NEAR ? "" : near, most: most === WHOLE[0] ? "" : most,
});

/** Return the ids of the entities that the quotes of an answer name. */
async function namedInAnswer(question, signal) {
  const answer = await tool("kb.retrieve_evidence", { question }, signal);
  const sections = [...new Set(answer.quotes.map((quote) => quote.section_id))].slice(0, 20);
  if (!sections.length) return { quotes: [], ids: [] };
  const found = await tool(
    "graph.entities_for_sections", { section_ids: sections, max_per_section: 40, page_size: 100 }, signal);
  const quotes = answer.quotes.map((quote) => quote.quote.toLowerCase());
  const inQuotes = found.entities.filter(
    (one) => [one.name, ...(one.aliases ?? [])].some((name) => quotes.some((text) => text.includes(name.toLowerCase()))));
  const ids = [...new Set((inQuotes.length ? inQuotes : found.entities).map((one) => one.id))].slice(0, 150);
  return { quotes: answer.quotes, ids };
}

async function pathsBetween(from, to, signal) {
  const asked = { start_ids: [from], end_ids: [to], rel_types: ["RELATED"], max_hops: 4, max_paths: 5, include_snippet: true };
  const found = await tool("graph.paths", asked, signal);
  return withReadable(found, found.paths.flatMap((path) => path.relations.map((one) => one.snippet)).filter(Boolean), signal);
}

/** Load what the address asks for: the drawing, and the answer or the paths that it comes from. */
async function load({ id, near, most, q, from, to }, signal) {
  const [answer, paths] = await Promise.all([
    q ? namedInAnswer(q, signal) : undefined,
    from && to ? pathsBetween(from, to, signal) : undefined,
  ]);
  const onPaths = (paths?.paths ?? []).flatMap((path) => path.nodes.map((node) => node.id));
  const centres = [...new Set([...id, ...onPaths])];
  const around = centres.length || q || paths;
  const nothing = { nodes: [], relations: [], groups: [], unresolved: [], n_entities: 0, n_relations: 0 };
  let drawing = nothing;
  if (!around) drawing = await call("graph", { max_nodes: most }, signal);
  else if (answer?.ids.length && !centres.length) {
    drawing = await call("graph", { entity_ids: answer.ids, neighbours: 0 }, signal);
  } else if (centres.length || answer?.ids.length) {
    const asked = [...new Set([...centres, ...(answer?.ids ?? [])])].slice(0, 200);
    const neighbours = onPaths.length ? 2 : near;
    drawing = await call("graph", { entity_ids: asked, neighbours, max_nodes: Math.max(400, 10 * near) }, signal);
  }
  return { drawing, answer, paths, around: Boolean(around) };
}

const known = new Map(); // what documents say of a relation, by its ends

function evidenceOf([one, other]) {
  const key = `${one}|${other}`;
  if (!known.has(key)) {
    const asked = { start_ids: [one], end_ids: [other], rel_types: ["RELATED"], max_hops: 1, max_paths: 1, include_snippet: true };
    const found = tool("graph.paths", asked).then(({ paths }) => paths[0]?.relations[0])
      .then((relation) => withReadable(relation, relation?.snippet ? [relation.snippet] : []));
    found.catch(() => known.delete(key));
    known.set(key, found);
  }
  return known.get(key);
}

/** The sentence that relates two names, with its place, and what facts say. */
function Evidence({ ends, names }) {
  const found = useLoaded(() => evidenceOf(ends), [ends.join("|")]);
  return html`<${Loaded} of=${found.value === undefined && !found.loading && !found.error ? { value: null } : found} what="Reading the sentence">
    ${(relation) => html`<${Said} relation=${relation} names=${names} />`}
  <//>`;
}

function Said({ relation, names }) {
  const counts = [
    relation?.n_units ? `named together in ${plural(relation.n_units, "passage")}` : "",
    relation?.n_facts ? plural(relation.n_facts, "fact") : "",
  ].filter(Boolean).join(" · ");
  return html`
    ${relation?.snippet
      ? html`<${Cited} span=${relation.snippet} names=${names} />`
      : html`<p class="quiet">No sentence names both: their names are alike.</p>`}
    ${relation?.predicates?.length ? html`<p class="quiet">${relation.predicates.map(visible).join(" · ")}</p>` : ""}
    ${counts && html`<p class="quiet">${counts}</p>`}`;
}

/** The canvas with its buttons, and the evidence of the line under the pointer. */
function Canvas({ drawing, centres, path, selected, group, hovered, onHover, onSelect, onExpand, names }) {
  const box = useRef();
  const [network, setNetwork] = useState();
  const [problem, setProblem] = useState();
  const latest = useRef();
  latest.current = { onSelect, onExpand, onHover };
  useEffect(() => {
    try {
      const made = drawNetwork(box.current, {
        select: (id) => latest.current.onSelect(id),
        expand: (id) => latest.current.onExpand(id),
        hover: (ends, fixed) => latest.current.onHover(ends, fixed),
      });
      box.current.network = made;
      setNetwork(made);
      return made.remove;
    } catch (error) {
      setProblem(error);
      return undefined;
    }
  }, []);
  useEffect(() => network?.show(drawing, centres), [network, drawing]);
  useEffect(() => network?.emphasise({ selected, hovered, group, path }), [network, drawing, selected, hovered, group, path]);
  if (problem) return html`<p class="problem">This browser cannot draw with WebGL. The lists have everything.</p>`;
  return html`
    <section class="map" aria-label="Drawing of the graph">
      <div class="canvas" ref=${box} tabindex="0" role="img" aria-describedby="graph-keys"
        aria-label=${`${plural(drawing.nodes.length, "name")} and ${plural(drawing.relations.length, "relation")}`}
        onKeyDown=${(event) => network?.key(event)}></div>
      <p id="graph-keys" class="hidden">
        Arrow keys move the drawing, plus and minus zoom, Home shows all of it, Enter expands the selected name. All
        names and relations are listed beside it.</p>
      ${hovered && html`<div class="edge-evidence" role="status"><p><b>${names(hovered[0])}</b> — <b>${names(hovered[1])}</b></p>
        <${Evidence} ends=${hovered} names=${hovered.map(names)} /></div>`}
      <div class="map-buttons">
        <button onClick=${() => network?.zoomBy(1.6)} aria-label="Zoom in" title="Zoom in (+)">+</button>
        <button onClick=${() => network?.zoomBy(1 / 1.6)} aria-label="Zoom out" title="Zoom out (−)">−</button>
        <button onClick=${() => network?.reset()} aria-label="Show everything" title="Show everything (Home)">⤢</button>
      </div>
    </section>`;
}

/** A field for a name, which offers the names that fit what is typed. */
function NameField({ id, label, value, onInput }) {
  const [names, setNames] = useState([]);
  useEffect(() => {
    if (!value.trim()) return undefined;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      call("names", { text: value.trim() }, controller.signal).then((found) => setNames(found.names), () => {});
    }, 120);
    return () => { clearTimeout(timer); controller.abort(); };
  }, [value]);
  return html`
    <label class="hidden" for=${id}>${label}</label>
    <input id=${id} list=${`${id}-names`} value=${value} placeholder=${label} autocomplete="off"
      onInput=${(event) => onInput(event.target.value)} />
    <datalist id=${`${id}-names`}>${names.map((name) => html`<option value=${name} />`)}</datalist>`;
}

function Search({ asked }) {
  const [name, setName] = useState("");
  const [from, setFrom] = useState(asked.from);
  const [to, setTo] = useState(asked.to);
  const find = (event) => {
    event.preventDefault();
    if (name.trim()) go("graph", { id: name.trim(), at: name.trim() });
  };
  const connect = (event) => {
    event.preventDefault();
    if (from.trim() && to.trim()) go("graph", { from: from.trim(), to: to.trim() });
  };
  return html`
    <div class="graph-search">
      <form role="search" onSubmit=${find}>
        <${NameField} id="name" label="Find a name" value=${name} onInput=${setName} />
        <button class="primary">Show</button>
      </form>
      <form aria-label="Paths between two names" onSubmit=${connect}>
        <${NameField} id="from" label="From" value=${from} onInput=${setFrom} />
        <${NameField} id="to" label="To" value=${to} onInput=${setTo} />
        <button>Find paths</button>
      </form>
    </div>`;
}

/** Which community has which colour and numeral; one of them can be emphasised. */
function Legend({ drawing, group, setGroup }) {
  const rest = drawing.nodes.filter((node) => node.group < 0).length;
  if (!drawing.groups.length) return null;
  return html`
    <ul class="legend" aria-label="Communities">
      ${drawing.groups.map((one, at) => html`
        <li key=${one.id}>
          <button aria-pressed=${String(group === at)} onClick=${() => setGroup(group === at ? undefined : at)}>
            <${Chip} tone=${TONES[at]} />${NUMERALS[at]} ${visible(one.title)}
            <span class="quiet"> ${number(one.n_nodes)}</span>
          </button>
          <a href=${link("themes", { id: one.id })} aria-label=${`Theme: ${one.title}`} title="Read the theme">↗</a>
        </li>`)}
      ${rest > 0 && html`<li class="quiet"><${Chip} />others ${number(rest)}</li>`}
    </ul>`;
}

/** All names of the drawing, the strongest first. */
function NameList({ nodes, centres, onSelect }) {
  const [shown, setShown] = useState(LISTED);
  const ordered = useMemo(
    () => [...nodes].sort((a, b) => centres.has(b.id) - centres.has(a.id) || b.n_units - a.n_units || (a.name < b.name ? -1 : 1)),
    [nodes, centres]);
  return html`
    <h2 class="part">Names</h2>
    <ul class="rows">
      ${ordered.slice(0, shown).map((node) => html`
        <li key=${node.id}><button onClick=${() => onSelect(node.id)}>
          <${Chip} tone=${TONES[node.group]} /><span>${labelled(node)}</span>
          <span class="quiet">${plural(node.n_units, "passage")}</span>
        </button></li>`)}
    </ul>
    ${ordered.length > shown && html`
      <button onClick=${() => setShown(shown + 10 * LISTED)}>${number(ordered.length - shown)} more names</button>`}`;
}

/** A relation in a list: it opens to the sentence that it comes from, and is emphasised in the drawing. */
function RelationRow({ here, there, weight, onHover, onSelect }) {
  const [open, setOpen] = useState(false);
  const ends = here.id < there.id ? [here.id, there.id] : [there.id, here.id];
  return html`
    <li>
      <button aria-expanded=${String(open)} onFocus=${() => onHover(ends)} onBlur=${() => onHover(undefined)}
        onClick=${() => setOpen(!open)}>
        <${Chip} tone=${TONES[there.group]} /><span>${labelled(there)}</span>
        <span class="quiet">weight ${weight}</span>
      </button>
      ${open && html`
        <div class="inside">
          <${Evidence} ends=${ends} names=${[here.name, there.name]} />
          <button onClick=${() => onSelect(there.id)}>Go to ${visible(there.name)}</button>
        </div>`}
    </li>`;
}

/** The selected name: what it is, where documents say something of it, and its relations. */
function Selected({ node, drawing, centres, asked, onSelect, onExpand, onHover }) {
  const [all, setAll] = useState(false);
  const passages = useLoaded(
    async (signal) => {
      const asked = { entity_ids: [node.id], max_per_entity: 9, page_size: 9, include_snippet: true };
      const found = await tool("graph.sections_for_entities", asked, signal);
      const name = node.name.toLowerCase();
      const names = ({ snippet }) => Number(snippet.text.toLowerCase().includes(name)); // else only the title does
      found.sections = found.sections.filter((one) => one.snippet).sort((a, b) => names(b) - names(a)).slice(0, SAYINGS);
      return withReadable(found, found.sections.map((one) => one.snippet), signal);
    }, [node.id]);
  const at = drawing.nodes.indexOf(node);
  const relations = drawing.relations
    .filter(([one, other]) => one === at || other === at)
    .map(([one, other, weight]) => ({ there: drawing.nodes[one === at ? other : one], weight }))
    .sort((a, b) => b.weight - a.weight);
  const shown = all ? relations : relations.slice(0, 20);
  const expanded = centres.has(node.id);
  return html`
    <h2 tabindex="-1"><${Chip} tone=${TONES[node.group]} />${labelled(node)}</h2>
    <p class="quiet">${node.label} · named in ${plural(node.n_units, "passage")}</p>
    ${expanded && node.n_neighbours !== null && html`<p>${number(relations.length)} relations drawn, of ${plural(node.n_neighbours, "neighbour")} in all.</p>`}
    <p class="actions">
      <button class="primary" disabled=${expanded && relations.length >= node.n_neighbours} onClick=${() => onExpand(node.id)}>
        ${expanded ? "More neighbours" : "Expand"}</button>
      <a href=${link("graph", written({ ...asked, id: [node.id], q: "", from: "", to: "", at: node.id }))}>Only this</a>
      <a href=${link("ask", { q: `What is ${node.name}?` })}>Ask</a>
      <button onClick=${() => onSelect(undefined)}>All names</button>
    </p>
    <h3>Documents say</h3>
    <${Loaded} of=${passages} what="Reading">
      ${({ sections }) => sections.map((one) => html`
        <${Cited} key=${one.id} span=${{ heading: one.heading, ...one.snippet }} names=${[node.name]} />`)}
    <//>
    <h3>Relations</h3>
    ${relations.length
      ? html`<ul class="rows">${shown.map(({ there, weight }) => html`
          <${RelationRow} key=${there.id} ...${{ here: node, there, weight, onHover, onSelect }} />`)}</ul>
        ${shown.length < relations.length && html`<button onClick=${() => setAll(true)}>${number(relations.length - shown.length)} more relations</button>`}`
      : html`<p class="quiet">None is drawn. Expand the name to see its neighbours.</p>`}`;
}

function Paths({ paths, chosen, setChosen }) {
  if (!paths.length) {
    return html`<p role="status">No chain of up to four relations joins these names.</p>`;
  }
  const [path] = [paths[chosen] ?? paths[0]];
  return html`
    <h2 class="part">${plural(paths.length, "path")}, the shortest first</h2>
    <ol class="rows">${paths.map((one, at) => html`
      <li><button aria-pressed=${String(one === path)} onClick=${() => setChosen(at)}>
        <span>${one.nodes.map((node) => visible(node.name)).join(" — ")}</span></button></li>`)}</ol>
    <h2 class="part">Step by step</h2>
    ${path.relations.map((relation, at) => html`
      <div key=${at}><p><b>${visible(path.nodes[at].name)}</b> — <b>${visible(path.nodes[at + 1].name)}</b></p>
        <${Said} relation=${relation} names=${[path.nodes[at].name, path.nodes[at + 1].name]} /></div>`)}`;
}

function Unresolved({ unresolved }) {
  return unresolved.map((one) => html`
    <div class="problem" key=${one.asked}>
      <p>“${visible(one.asked)}” ${one.reason === "ambiguous" ? "is the name of several. Which one?" : "is not a name here. Near it:"}</p>
      <ul class="plain-list">${(one.candidates ?? []).map((node) => html`
        <li><a href=${link("graph", { id: node.id, at: node.id })}>${visible(node.name)}</a>
          <span class="quiet"> ${node.label} · ${plural(node.n_mentions ?? 0, "mention")}</span></li>`)}</ul>
    </div>`);
}

/** What is drawn, and what a cap left out. */
function Caption({ found, asked }) {
  const { drawing, answer, around } = found;
  const said = [plural(drawing.nodes.length, "name")];
  if (!around && drawing.n_entities > drawing.nodes.length) said[0] = `${number(drawing.nodes.length)} of ${plural(drawing.n_entities, "name")}, those that most passages use`;
  said.push(drawing.n_relations > drawing.relations.length
    ? `${number(drawing.relations.length)} of ${plural(drawing.n_relations, "relation")}, the strongest of each name`
    : plural(drawing.relations.length, "relation"));
  return html`
    <p class="quiet" role="status">
      ${answer ? html`Named in the ${plural(answer.quotes.length, "quote")} for “<a href=${link("ask", { q: asked.q })}>${visible(asked.q)}</a>”: ` : ""}
      ${said.join("; ")}.
      ${!around && WHOLE.filter((most, at) => most !== asked.most && (WHOLE[at - 1] ?? 0) < drawing.n_entities).map((most) => html`
        ${" "}<a href=${link("graph", written({ ...asked, most }))}>Show ${most < drawing.n_entities ? number(most) : `all ${number(drawing.n_entities)}`}</a>`)}
      ${around && html` <a href=${link("graph")}>Show the whole</a>`}
    </p>`;
}

function Graph({ found, asked }) {
  const { drawing, paths } = found;
  const [group, setGroup] = useState();
  const [hovered, setHovered] = useState();
  const [fixed, setFixed] = useState();
  const [pathAt, setPathAt] = useState(0);
  useEffect(() => { setGroup(undefined); setHovered(undefined); setFixed(undefined); setPathAt(0); }, [drawing]);
  const byId = useMemo(() => new Map(drawing.nodes.map((node) => [node.id, node])), [drawing]);
  const centres = useMemo(
    () => new Set(drawing.nodes.filter((node) => node.n_neighbours !== null && found.around).map((node) => node.id)), [drawing]);
  const chosen = byId.get(asked.at) ?? drawing.nodes.find((node) => asked.at && node.name.toLowerCase() === asked.at.toLowerCase());
  const path = useMemo(() => {
    const steps = paths?.paths[pathAt]?.relations ?? [];
    const nodes = new Set(steps.flatMap((step) => [step.source, step.target]));
    return { nodes, steps: new Set(steps.flatMap((step) => [`${step.source}|${step.target}`, `${step.target}|${step.source}`])) };
  }, [paths, pathAt]);
  const select = (id) => go("graph", written({ ...asked, at: id ?? "" }), true);
  const expand = (id) => {
    const more = centres.has(id) && !found.answer && !paths ? Math.min(500, asked.near * 3) : asked.near;
    go("graph", written({ ...asked, id: [...new Set([...asked.id, id])], near: more, at: id }));
  };
  const hover = (ends, fix) => { setHovered(ends); if (fix) setFixed(ends); };
  if (!drawing.nodes.length) {
    return html`
      <${Unresolved} unresolved=${drawing.unresolved} />
      ${paths ? html`<${Paths} paths=${paths.paths} />` : ""}
      ${!drawing.unresolved.length && !paths && html`<${Empty}>${asked.q
        ? html`No quote answers “${visible(asked.q)}”, so there is nothing to draw.`
        : "The documents name nothing that could be drawn."}<//>`}`;
  }
  return html`
    <${Caption} found=${found} asked=${asked} />
    <${Unresolved} unresolved=${drawing.unresolved} />
    <div class="side-by-side">
      <div class="drawn"><${Canvas} drawing=${drawing} centres=${centres} path=${path} selected=${chosen?.id} group=${group}
        hovered=${hovered ?? fixed} onHover=${hover} onSelect=${select} onExpand=${expand}
        names=${(id) => visible(byId.get(id)?.name ?? id)} />
        <${Legend} drawing=${drawing} group=${group} setGroup=${setGroup} /></div>
      <div class="panel">
        ${chosen
          ? html`<${Selected} key=${chosen.id} node=${chosen} ...${{ drawing, centres, asked, onHover: hover }}
              onSelect=${select} onExpand=${expand} />`
          : html`
            ${paths && html`<${Paths} paths=${paths.paths} chosen=${pathAt} setChosen=${setPathAt} />`}
            <p class="quiet">Select a name to read what documents say of it; a double click or “Expand” shows its neighbours.
              Point at a line for its sentence.</p>
            <${NameList} nodes=${drawing.nodes} centres=${centres} onSelect=${select} />`}
      </div>
    </div>`;
}

export default function GraphView({ params }) {
  const asked = read(params);
  const { at, ...drawn } = asked;
  const found = useLoaded((signal) => load(drawn, signal), [JSON.stringify(drawn)]);
  return html`<div class="explore">
    <h1>Graph</h1>
    <${Search} key=${`${asked.from}|${asked.to}`} asked=${asked} />
    ${found.error
      ? html`<${Problem} error=${found.error} retry=${found.reload} />`
      : found.value ? html`<${Graph} found=${found.value} asked=${asked} />` : html`<${Loading} what="Drawing the graph" />`}
  </div>`;
}
