// Why a quote was found: the way through the graph to its passage, the scores of the stages, and its sentences.
import { html } from "../lib/html.js";
import { tool, useLoaded } from "../lib/api.js";
import { Loaded } from "../lib/parts.js";
import { link } from "../lib/router.js";
import { number, plural, visible } from "../lib/text.js";

const PARTS = [
  ["bm25", "Words (BM25)"], ["cosine", "Meaning (cosine)"], ["hybrid", "Both, mixed"],
  ["definition", "Defines what the question names"], ["graph", "Reached over the graph"],
];
const KINDS = {
  definition: (name) => html`and this passage says what ${name} is.`,
  entity: (name) => html`and few other passages than this one name ${name}.`,
  bridge: (name) => html`and this passage names ${name} beside what the question still asks.`,
};
const plain = (text) => visible(text.replace(/!?\[([^\]]+)\]\([^)]*\)/g, "$1").replace(/\*\*/g, "").replace(/\s+/g, " "));
const FEATURES = {
  unit: "rank of the passage", cosine: "meaning", lexical: "words", lead: "opens its section",
  answer_type: "has the kind of answer asked for", reached: "reached over the graph",
};

/** `explanation` is the answer of the operation explain, `open` returns the address of a span in its document. */
export function Why({ explanation, quote, open }) {
  const found = explanation.final.find((one) => one.unit.section_id === quote.section_id);
  const picked = explanation.quotes.find((one) => one.start_char === quote.start_char && one.doc_uri === quote.doc_uri);
  const edges = explanation.edges.filter((one) => one.target.section_id === quote.section_id);
  const seeds = explanation.seeds.some((one) => one.section_id === quote.section_id);
  if (!found) return html`<p class="quiet">The passage is not among those that the explanation holds.</p>`;
  return html`
    <div class="why">
      <p>Passage ${found.rank} of the ranking, score ${found.score.toFixed(2)}${seeds && ", one of those that the graph was entered from"}.
        ${edges.length ? "" : " It was found by the search itself; no way through the graph was needed."}</p>
      ${edges.length > 0 && html`
        <h2>The way there</h2>
        <ol class="way">${edges.map((edge) => {
          const name = html`<strong>${visible(edge.entity)}</strong>`;
          return html`<li>
            <a href=${open(edge.source)}>${visible(edge.source.heading)}</a>${edge.sentence
              ? html` says <q>${plain(edge.sentence)}</q>` : html` names ${name}`}, ${KINDS[edge.kind]?.(name) ?? name} <span class="quiet">${edge.kind} edge, ${edge.value.toFixed(2)}</span>
          </li>`;
        })}</ol>`}
      <h2>The scores of its passage</h2>
      <table><tbody>${PARTS.filter(([part]) => part in found.parts).map(([part, title]) => html`
        <tr><th scope="row">${title}</th><td>${found.parts[part].toFixed(3)}</td></tr>`)}
      </tbody></table>
      ${picked?.sentences.length > 0 && html`
        <h2>Its sentences</h2>
        <ul>${picked.sentences.map((one) => html`
          <li>${plain(one.text)} <span class="quiet">${
            Object.entries(one.features).filter(([, value]) => value).map(([feature, value]) => `${FEATURES[feature] ?? feature} ${value.toFixed(2)}`).join(" · ")}</span></li>`)}</ul>`}
      <p class="quiet">The question was read as the words ${Object.keys(explanation.terms).map(visible).join(", ") || "(none)"}${
        explanation.entities.length > 0 && html` and the names ${explanation.entities.map((one, at) => html`${at > 0 && ", "}${
          visible(one.name)} (${plural(one.units, "passage")})`)}`}; ${
        Object.entries(explanation.edges_followed).map(([kind, count]) => `${number(count)} ${kind} edges`).join(", ") || "no edges"} were followed. <a href=${link("graph", { q: explanation.question })}>See the names of this answer as a graph</a></p>
    </div>`;
}

/** The theme of a point and those around it, from the broadest, and the names in its passage. */
async function loadPoint({ community_id: id, section_id: section }, signal) {
  const named = tool("graph.entities_for_sections", { section_ids: [section], max_per_section: 40, page_size: 40 }, signal);
  const themes = [];
  for (let next = id; next;) {
    const { communities: [theme] } = await tool("graph.communities", { community_ids: [next] }, signal);
    if (theme) themes.unshift(theme);
    next = theme?.parent_id;
  }
  return { themes, names: (await named).entities };
}

/** What a point of an answer about the whole rests on. */
export function WhyPoint({ point, answer }) {
  const loaded = useLoaded((signal) => loadPoint(point, signal), [point.community_id, point.section_id]);
  const { communities, rated, descended, dropped } = answer.diagnostics;
  return html`<div class="why"><${Loaded} of=${loaded} what="Looking at what it rests on">
    ${({ themes, names }) => {
      const theme = themes.at(-1);
      const ofTheme = new Set(theme?.key_entities.map((one) => one.id));
      const shared = names.filter((one) => ofTheme.has(one.id)), others = names.filter((one) => !ofTheme.has(one.id));
      const list = (ones) => ones.map((one, at) => html`${at > 0 && ", "}<a href=${link("graph", { id: one.id })}>${visible(one.name)}</a>`);
      return html`
        ${theme
          ? html`<h3>Its theme</h3>
            <p>${themes.map((one, at) => html`${at > 0 && " › "}<a href=${link("themes", { id: one.id })}>${visible(one.title)}</a>`)}
              <span class="quiet"> ${plural(theme.n_units, "passage")}, ${plural(theme.n_entities, "name")}</span></p>`
          : html`<p>It is of no theme: the search of passages found it.</p>`}
        <h3>Its passage</h3>
        <p>${visible([point.title, point.heading].filter(Boolean).join(" › "))}. ${names.length
          ? html`It names ${shared.length > 0 && html`${list(shared)}, as its theme does`}${shared.length > 0 && others.length > 0 && ", and "}${list(others)}.`
          : "It names nothing."}</p>
        <p class="quiet">Rated ${point.rating.toFixed(2)} by how much it bears on the question; 1 is most. Of ${plural(communities, "theme")}, ${
          number(rated)} were rated, ${number(descended)} opened and ${number(dropped)} dropped.</p>`;
    }}
  <//></div>`;
}
