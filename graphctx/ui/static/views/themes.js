// Themes: the communities of the documents as a map and in words, and questions about the whole.
import { html, useEffect, useMemo, useRef, useState } from "../lib/html.js";
import { call, tool, useLoaded } from "../lib/api.js";
import { drawMap } from "../lib/circles.js";
import { Empty, Loaded, Problem } from "../lib/parts.js";
import { withReadable } from "../lib/readable.js";
import { go, link } from "../lib/router.js";
import { number, plural, visible } from "../lib/text.js";
import { Chip } from "../parts/chip.js";
import { Cited } from "../parts/cited.js";

const sizes = (theme) => `${plural(theme.n_entities, "name")} · ${plural(theme.n_units, "passage")}`;

/** Return the communities as a tree whose leaves have a size, with its nodes by id. */
function grown({ themes, n_themes: total }) {
  const root = { kind: "root", id: "", title: "All themes", children: [] };
  const byId = new Map([["", root]]);
  for (const theme of themes) {
    const node = { ...theme, kind: "community", children: [], parent: byId.get(theme.parent_id ?? "") ?? root };
    node.parent.children.push(node);
    byId.set(theme.id, node);
  }
  for (const node of byId.values()) {
    if (!node.children.length) [node.children, node.size] = [undefined, node.n_entities];
  }
  return { root, byId, total, shown: themes.length };
}

/** The circles; buttons and keys move about in them. */
function ThemeMap({ tree, chosen, related, q }) {
  const canvas = useRef();
  const [map, setMap] = useState();
  const [said, setSaid] = useState("");
  const asked = useRef();
  asked.current = q;
  useEffect(() => {
    const drawn = drawMap(canvas.current, tree.root, {
      choose: (node) => go("themes", { id: node.id, q: asked.current }),
      hover: (node) => setSaid(`${node.title}, ${sizes(node)}`),
    });
    setMap(drawn);
    return drawn.remove;
  }, [tree]);
  const first = useRef(true);
  useEffect(() => {
    if (!map) return;
    map.mark(chosen, related);
    map.goTo(chosen, first.current);
    first.current = false;
  }, [map, chosen, related]);
  return html`
    <section class="map" aria-label="Map of themes">
      <svg ref=${canvas} tabindex="0" role="img" aria-label="Themes as circles, larger ones around finer ones"
        aria-describedby="map-keys" onKeyDown=${(event) => map?.key(event)}></svg>
      <p id="map-keys" class="hidden">
        Arrow keys choose a circle, Enter opens it, Home shows everything, plus and minus zoom. The same themes are
        listed beside the map.</p>
      <p class="hidden" role="status" aria-live="polite">${said}</p>
      <div class="map-buttons">
        <button onClick=${() => map?.zoomBy(1.6)} aria-label="Zoom in" title="Zoom in (+)">+</button>
        <button onClick=${() => map?.zoomBy(1 / 1.6)} aria-label="Zoom out" title="Zoom out (−)">−</button>
        <button onClick=${() => { map?.goTo(tree.root); go("themes", { q }); }} aria-label="Show everything" title="Show everything (Home)">⤢</button>
      </div>
    </section>`;
}

async function loadThemes(asked, signal) {
  const answer = await tool("graph.communities", asked, signal);
  return withReadable(answer, answer.communities.flatMap((theme) => theme.summary ?? []), signal);
}

/** Themes in a list, each with one sentence; further pages on request. */
function ThemeList({ parent, tones, q }) {
  const [pages, setPages] = useState([]);
  const [problem, setProblem] = useState();
  const asked = { parent_id: parent || undefined, include_snippet: true, page_size: 20 };
  const first = useLoaded((signal) => loadThemes(asked, signal), [parent]);
  useEffect(() => setPages([]), [first.value]);
  const more = async (cursor) => {
    try {
      const next = await loadThemes({ ...asked, cursor });
      setPages((before) => [...before, next]);
      setProblem(undefined);
    } catch (error) {
      setProblem(error);
    }
  };
  return html`<${Loaded} of=${first} what="Listing themes">
    ${(found) => {
      const all = [found, ...pages];
      const cursor = all.at(-1).next_cursor;
      return html`
        <ul class="themes">
          ${all.flatMap((page) => page.communities).map((theme) => html`
            <li key=${theme.id}>
              <a href=${link("themes", { id: theme.id, q })}>
                <${Chip} tone=${tones.get(theme.id)?.tone} /><b>${visible(theme.title)}</b></a>
              <span class="quiet"> ${sizes(theme)}${theme.n_children ? ` · ${plural(theme.n_children, "finer theme")}` : ""}</span>
              ${theme.summary?.[0] && html`<p>${visible(theme.summary[0].shown)}</p>`}
            </li>`)}
        </ul>
        ${problem && html`<${Problem} error=${problem} />`}
        ${cursor && html`<button onClick=${() => more(cursor)}>More themes</button>`}`;
    }}
  <//>`;
}

/** One theme: what documents say of it, its names and documents, and the finer themes. */
function Theme({ id, tones, q }) {
  const asked = { community_ids: [id], include_snippet: true };
  const found = useLoaded((signal) => loadThemes(asked, signal), [id]);
  return html`<${Loaded} of=${found} what="Reading the theme">
    ${({ communities: [theme] }) => {
      if (!theme) return html`<${Empty}>There is no such theme in this snapshot.<//>`;
      const names = theme.key_entities.map((one) => one.name);
      return html`
        ${q && html`<p><a href=${link("themes", { q })}>‹ What the documents say to “${visible(q)}”</a></p>`}
        <h2><${Chip} tone=${tones.get(id)?.tone} />${visible(theme.title)}</h2>
        <p class="quiet">${sizes(theme)}${theme.n_children ? ` · ${plural(theme.n_children, "finer theme")}` : ""}</p>
        ${theme.phrased && html`<h3>In a language model’s words</h3><p class="phrased">${visible(theme.phrased)}</p>`}
        <h3>What documents say</h3>
        ${theme.summary?.length
          ? theme.summary.map((span) => html`<${Cited} key=${span.start_char + span.doc_uri} span=${span} names=${names} />`)
          : html`<p class="quiet">No sentence stands out.</p>`}
        ${theme.key_facts?.length ? html`
          <h3>Facts</h3><ul class="plain-list">${theme.key_facts.map((fact) => html`<li>${visible(fact)}</li>`)}</ul>` : ""}
        <h3>Names</h3>
        <ul class="names">
          ${theme.key_entities.map((one) => html`<li><a href=${link("graph", { id: one.id })}>${visible(one.name)}</a></li>`)}
        </ul>
        <p><a href=${link("graph", { id: theme.key_entities.map((one) => one.id), near: 12 })}>Draw them with their neighbours</a></p>
        ${theme.documents?.length ? html`
          <h3>Documents</h3><ul class="plain-list">${theme.documents.map((title) => html`<li><a href=${link("documents", { q: title })}>${visible(title)}</a></li>`)}</ul>` : ""}
        ${theme.n_children ? html`<h3>Finer themes</h3><${ThemeList} parent=${id} tones=${tones} q=${q} />` : ""}`;
    }}
  <//>`;
}

async function survey(question, signal) {
  const answer = await tool("kb.global_search", { question }, signal);
  return withReadable(answer, answer.points, signal);
}

/** The points that answer a question about the whole, below the themes that they come from. */
function WholeAnswer({ answer, tones, q }) {
  const places = new Map(answer.themes.map((theme) => [theme.id, theme]));
  const groups = new Map(answer.themes.map((theme) => [theme.id, []]));
  for (const point of answer.points) groups.set(point.community_id, [...(groups.get(point.community_id) ?? []), point]);
  const shown = [...groups].filter(([, points]) => points.length);
  return html`
    <p role="status">${plural(answer.points.length, "point")} from ${plural(answer.themes.length, "theme")}, word for word.</p>
    ${answer.phrased?.length ? html`
      <h2>In a language model’s words</h2>
      <p class="phrased">${answer.phrased.map((one) => `${visible(one.text)} ${one.points.map((at) => `[${at}]`).join("")} `)}</p>` : ""}
    ${shown.map(([id, points]) => html`
      <section key=${id} aria-label=${places.get(id)?.title ?? "Other points"}>
        <h2><${Chip} tone=${tones.get(id)?.tone} />${places.has(id)
          ? html`<a href=${link("themes", { id, q })}>${visible(places.get(id).title)}</a>` : "In no one theme"}</h2>
        ${points.map((point) => html`<${Cited} key=${point.doc_uri + point.start_char} span=${point} />`)}
      </section>`)}`;
}

function Question({ question, answer, tones }) {
  return html`
    <p><a href=${link("themes")}>‹ All themes</a></p>
    <${Loaded} of=${answer} what="Surveying the documents">
      ${(found) => (found.points.length
        ? html`<${WholeAnswer} answer=${found} tones=${tones} q=${question} />`
        : html`<${Empty}>Nothing in the documents bears on “${question}”. For a detail, <a href=${link("ask", { q: question })}>ask for evidence</a>.<//>`)}
    <//>`;
}

function Trail({ node, q }) {
  const way = [];
  for (let step = node; step; step = step.parent) way.unshift(step);
  return html`
    <nav class="trail" aria-label="Where you are">
      <ol>${way.map((step, at) => html`
        <li>${at === way.length - 1
          ? html`<span aria-current="page">${visible(step.title)}</span>`
          : html`<a href=${link("themes", { id: step.id, q })}>${visible(step.title)}</a>`}</li>`)}</ol>
    </nav>`;
}

const NOTHING = new Set();

export default function Themes({ params }) {
  const id = params.get("id") ?? "", question = params.get("q") ?? "";
  const [text, setText] = useState(question);
  useEffect(() => setText(question), [question]);
  const tree = useLoaded((signal) => call("themes", {}, signal).then(grown), []);
  const answer = useLoaded(
    async (signal) => (question ? survey(question, signal) : undefined), [question]);
  const byId = tree.value?.byId;
  const related = useMemo(
    () => new Set((question && answer.value?.themes.map((theme) => byId?.get(theme.id))) || NOTHING),
    [question, answer.value, byId]);
  const submit = (event) => {
    event.preventDefault();
    if (text.trim()) go("themes", { q: text.trim() });
  };
  return html`<div class="explore">
    <h1>Themes</h1>
    <form class="ask" role="search" onSubmit=${submit}>
      <label class="hidden" for="whole">Question about the whole</label>
      <input id="whole" value=${text} onInput=${(event) => setText(event.target.value)}
        placeholder="Ask about the whole: what recurs, what matters, how things are done" />
      <button class="primary">Survey</button>
    </form>
    <${Loaded} of=${tree} what="Drawing the map">
      ${(found) => {
        if (!found.total) return html`<${Empty}>The documents relate no names to each other, so there are no themes.<//>`;
        const chosen = found.byId.get(id) ?? found.root;
        return html`
          <${Trail} node=${chosen} q=${question} />
          <div class="side-by-side">
            <div>
              <${ThemeMap} tree=${found} chosen=${chosen} related=${related} q=${question} />
              ${found.shown < found.total && html`<p class="quiet">The map has ${number(found.shown)} of ${plural(found.total, "theme")}, the broadest and largest; the lists have all.</p>`}
            </div>
            <div class="panel">
              ${id ? html`<${Theme} key=${id} id=${id} tones=${found.byId} q=${question} />`
                : question ? html`<${Question} question=${question} answer=${answer} tones=${found.byId} />`
                : html`<p class="quiet">Names that documents relate to each other stand together. Open a theme to read what documents say of it; every sentence is quoted from one.</p>
                    <${ThemeList} parent="" tones=${found.byId} />`}
            </div>
          </div>`;
      }}
    <//>
  </div>`;
}
