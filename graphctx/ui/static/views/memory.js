// What agents have stored: items, facts in time, tiers with their budgets; correct and forget.
import { html, useEffect, useState } from "../lib/html.js";
import { call, tool, useLoaded } from "../lib/api.js";
import { Confirm, Meter, Tabs, Wide, day, when } from "../lib/controls.js";
import { Empty, Loaded } from "../lib/parts.js";
import { go, link } from "../lib/router.js";
import { number, plural, visible } from "../lib/text.js";

const TABS = [["", "Stored"], ["facts", "Facts in time"], ["budgets", "Tiers and budgets"]];
const TIERS = ["working", "session", "epoch", "core"];
const KINDS = ["fact", "preference", "event", "summary", "core", "turn", "task", "iteration", "skill", "file", "output", "error"];
const STATES = ["active", "aging", "summarized", "archived"];
const PAGE = 50;
const SUBJECTS = 20;

export default function Memory({ params, status }) {
  const tab = params.get("tab") ?? "";
  const session = params.get("session") ?? "";
  const overview = useLoaded((signal) => call("memory_overview", { session: session || undefined }, signal), [session]);
  return html`
    <h1>Memory</h1>
    <${Tabs} view="memory" label="Parts of the memory" tabs=${TABS} open=${tab} keep=${{ session }} />
    <${Loaded} of=${overview} what="Opening the memory">
      ${(about) => html`<${Part} ...${{ params, tab, session, about, status, changed: overview.reload }} />`}
    <//>`;
}

function Part(props) {
  if (props.params.get("id")) return html`<${Item} ...${props} />`;
  if (props.tab === "facts") return html`<${Facts} ...${props} />`;
  if (props.tab === "budgets") return html`<${Budgets} ...${props} />`;
  return html`<${Stored} ...${props} />`;
}

// Stored

function Stored({ params, session, about, changed }) {
  const query = params.get("q") ?? "";
  const chosen = { kind: params.get("kind") ?? "", tier: params.get("tier") ?? "", state: params.get("state") ?? "" };
  const limit = Number(params.get("n") ?? PAGE);
  const [text, setText] = useState(query);
  const [said, setSaid] = useState("");
  useEffect(() => setText(query), [query]);
  const choose = (more) => go("memory", { q: query, session, ...chosen, ...more });
  const load = async (signal) => {
    const common = { session: session || undefined };
    if (!query) {
      return call("memory_items", {
        ...common, limit: Math.min(limit, 200), kinds: [chosen.kind].filter(Boolean), states: [chosen.state].filter(Boolean),
        tiers: chosen.tier ? [Number(chosen.tier)] : [], corrected: chosen.state === "archived",
      }, signal);
    }
    const found = await tool("memory_retrieve", {
      query, session_id: session || undefined, as_of: new Date().toISOString(), // a look is not a use
      filters: { memory_types: [chosen.kind].filter(Boolean), ...(session ? { session } : {}) },
    }, signal);
    const { items } = await call("memory_items", {
      ...common, ids: found.items.map((one) => one.id).filter((id) => id.startsWith("m_")),
    }, signal);
    const byId = new Map(items.map((item) => [item.id, item]));
    const entries = [...found.block];
    return {
      items: found.items.map((one) => byId.get(one.id) ?? { id: one.id, line: entries.slice(one.start_char, one.end_char).join("") }),
      why: found.why_empty || found.degraded, more: Boolean(found.truncated),
    };
  };
  const listed = useLoaded(load, [query, session, chosen.kind, chosen.tier, chosen.state, limit]);
  const done = (message) => { setSaid(message); listed.reload(); changed(); };
  return html`
    <form class="ask" role="search" onSubmit=${(event) => { event.preventDefault(); choose({ q: text.trim() }); }}>
      <label class="hidden" for="memory-query">Search what is remembered</label>
      <input id="memory-query" type="search" value=${text} onInput=${(event) => setText(event.target.value)}
        placeholder="What do you want to know?" />
      <button class="primary">Search</button>
    </form>
    <div class="filters">
      <${Choice} name="Kind" value=${chosen.kind} options=${KINDS.map((kind) => [kind, kind])} onChange=${(kind) => choose({ kind })} />
      ${!query && html`
        <${Choice} name="Tier" value=${chosen.tier} options=${TIERS.map((tier, at) => [String(at), tier])} onChange=${(tier) => choose({ tier })} />
        <${Choice} name="State" value=${chosen.state} options=${STATES.map((state) => [state, state])} onChange=${(state) => choose({ state })} />`}
      ${about.sessions.length > 0 && html`
        <${Choice} name="Session" value=${session} onChange=${(value) => choose({ session: value })}
          options=${about.sessions.filter((one) => one.session).map((one) => [one.session, `${one.session} (${one.n_items})`])} />`}
    </div>
    <p class="hidden" role="status">${said}</p>
    <${Loaded} of=${listed} what=${query ? "Searching" : "Loading"}>
      ${(found) => html`
        ${found.why && html`<p class="quiet">${found.why}</p>`}
        ${!found.items.length && !found.why && html`<${Empty}>${about.n_items
          ? "Nothing passes the filters."
          : "Nothing is remembered here yet. Agents store with memory_store."}<//>`}
        <ul class="memories">
          ${found.items.map((item) => html`<li key=${item.id}>
            ${item.line
              ? html`<article class="memory"><p class="text">${visible(item.line)}</p></article>`
              : html`<${Card} ...${{ item, session, about, done }} />`}
          </li>`)}
        </ul>
        ${found.more && !query && limit < 200 && html`<p><a href=${link("memory", { session, ...chosen, n: limit + PAGE })}>Show more</a></p>`}
        ${found.more && !query && limit >= 200 && html`<p class="quiet">The newest 200 are listed; search or filter for others.</p>`}`}
    <//>`;
}

const Choice = ({ name, value, options, onChange }) => html`
  <label>${name}
    <select value=${value} onChange=${(event) => onChange(event.target.value)}>
      <option value="">all</option>
      ${options.map(([key, title]) => html`<option value=${key}>${title}</option>`)}
    </select>
  </label>`;

function Provenance({ item }) {
  return html`
    <p class="provenance">
      <span class=${`kind ${item.tier === 3 ? "core" : ""}`}>${item.kind}</span>
      <span>${TIERS[item.tier]} tier</span>
      <span>${when(item.created_at)}</span>
      ${item.author && html`<span>by ${visible(item.author)}</span>`}
      ${item.source && html`<span>from ${visible(item.source)}</span>`}
      ${item.session && html`<span>session ${visible(item.session)}</span>`}
      ${item.state !== "active" && html`<span class="flag">${item.state}</span>`}
      ${!item.verbatim && html`<span class="flag">summary, not verbatim</span>`}
      ${item.valid_to && html`<span class="flag wrong">corrected ${day(item.valid_to)}</span>`}
      ${!item.valid_to && item.outdated_since && html`<span class="flag wrong">outdated since ${day(item.outdated_since)}</span>`}
    </p>`;
}

function Card({ item, session, about, done, whole = false }) {
  const [open, setOpen] = useState("");
  const [correction, setCorrection] = useState(item.text);
  const change = (action, more, message) => async () => {
    await tool("memory_forget", { memory_id: item.id, action, session_id: session || undefined, ...more });
    setOpen("");
    done(message, action);
  };
  const old = item.outdated_since || item.valid_to;
  return html`
    <article class=${`memory ${old ? "old" : ""}`} aria-label=${`${item.kind}: ${item.text.slice(0, 80)}`}>
      <div class="head"><${Provenance} item=${item} />
      <div class="actions">
        ${!whole && html`<a href=${link("memory", { id: item.id, session })}>Details</a>`}
        ${about.may_write && !item.valid_to && html`
          <button class="plain" aria-expanded=${open === "correct"} onClick=${() => setOpen(open === "correct" ? "" : "correct")}>Correct…</button>`}
        ${about.may_write && html`
          <button class="plain" aria-expanded=${open === "forget"} onClick=${() => setOpen(open === "forget" ? "" : "forget")}>Forget…</button>`}
      </div>
      </div>
      <p class="text">${visible(item.text)}${item.n_chars > [...item.text].length && html` <a href=${link("memory", { id: item.id, session })}>… all ${number(item.n_chars)} characters</a>`}</p>
      ${open === "forget" && html`
        <${Confirm} text="Delete this memory and the facts that it states, from the disk too? This cannot be undone."
          onClose=${() => setOpen("")}
          actions=${[{ title: "Delete for good", danger: true, run: change("delete", {}, "Deleted.") },
            { title: "Only halve its confidence", run: change("deprecate", {}, "Its confidence is halved.") }]} />`}
      ${open === "correct" && html`
        <${Confirm} text="The corrected text replaces this one, which stays in the history." onClose=${() => setOpen("")}
          actions=${[{ title: "Save the correction", run: change("correct", { correction }, "Corrected.") }]}>
          <textarea aria-label="Corrected text" rows="4" value=${correction} onInput=${(event) => setCorrection(event.target.value)}></textarea>
        <//>`}
    </article>`;
}

// One item

function Item({ params, session, about, changed }) {
  const id = params.get("id");
  const loaded = useLoaded((signal) => call("memory_item", { id, session: session || undefined }, signal), [id, session]);
  const done = (message, action) => {
    changed();
    if (action === "deprecate") loaded.reload(); else go("memory", { session });
  };
  return html`
    <p><a href=${link("memory", { session })}>All that is stored</a></p>
    <${Loaded} of=${loaded}>
      ${({ item, corrected, sources, facts }) => html`
        <${Card} key=${item.id} ...${{ item, session, about, done }} whole />
        <dl class="fields">
          <dt>Id</dt><dd><code>${item.id}</code></dd>
          <dt>Visible in</dt><dd>${item.persistence === "global" ? "all projects" : item.persistence === "session" ? "its session" : `project ${visible(item.project)}`}</dd>
          <dt>Confidence</dt><dd>${item.confidence.toFixed(2)}, as stored</dd>
          <dt>Usefulness</dt><dd>${item.usefulness.toFixed(2)} by feedback</dd>
          <dt>Used</dt><dd>${plural(item.access_count, "time")}${item.used_at && html`, last ${when(item.used_at)}`}</dd>
          ${item.tags.length > 0 && html`<dt>Tags</dt><dd>${visible(item.tags.join(", "))}</dd>`}
          ${Object.keys(item.metadata).length > 0 && html`<dt>Metadata</dt><dd><code>${visible(JSON.stringify(item.metadata))}</code></dd>`}
        </dl>
        ${facts.length > 0 && html`<h2>Facts that it states</h2>
          <ul>${facts.map((fact) => html`<li class=${fact.temporal_end ? "old" : ""}>
            <a href=${link("memory", { tab: "facts", name: fact.subject, session })}>${visible(fact.subject)}</a> → ${visible(fact.predicate)} → ${visible(fact.object)}
            <span class="quiet"> since ${day(fact.temporal_start)}${fact.temporal_end && html` until ${day(fact.temporal_end)}`}</span></li>`)}</ul>`}
        ${corrected.length > 0 && html`<h2>Earlier versions</h2>${corrected.map((one) => html`<${Earlier} key=${one.id} item=${one} session=${session} />`)}`}
        ${sources.length > 0 && html`<h2>Made from</h2>${sources.map((one) => html`<${Earlier} key=${one.id} item=${one} session=${session} />`)}`}`}
    <//>`;
}

const Earlier = ({ item, session }) => html`
  <article class=${`memory ${item.valid_to ? "old" : ""}`}>
    <div class="head"><${Provenance} item=${item} />
      <div class="actions"><a href=${link("memory", { id: item.id, session })}>Details</a></div></div>
    <p class="text">${visible(item.text)}</p>
  </article>`;

// Facts in time

function Facts({ params, session, status }) {
  const name = params.get("name") ?? "";
  const limit = Number(params.get("n") ?? SUBJECTS);
  const [text, setText] = useState(name);
  useEffect(() => setText(name), [name]);
  const loaded = useLoaded(
    (signal) => call("memory_facts", { name, limit: Math.min(limit, 100), session: session || undefined }, signal),
    [name, session, limit],
  );
  const search = (event) => {
    event.preventDefault();
    go("memory", { tab: "facts", name: text.trim(), session });
  };
  return html`
    <form class="ask" role="search" onSubmit=${search}>
      <label class="hidden" for="fact-name">A name in the facts</label>
      <input id="fact-name" type="search" value=${text} onInput=${(event) => setText(event.target.value)} placeholder="A person, a project, a thing" />
      <button class="primary">Find</button>
    </form>
    <${Loaded} of=${loaded} what="Reading the facts">
      ${(found) => html`
        ${!found.subjects.length && html`<${Empty}>${name ? `No fact has “${visible(name)}” in a name.` : "No facts are remembered yet."}<//>`}
        ${found.subjects.map((one) => html`<${Subject} key=${one.subject} ...${{ one, session, status, asOf: found.as_of }} />`)}
        ${found.more && limit < 100 && html`<p><a href=${link("memory", { tab: "facts", name, session, n: limit + SUBJECTS })}>Show more subjects</a></p>`}`}
    <//>`;
}

function Subject({ one, session, status, asOf }) {
  const starts = one.lines.flatMap((line) => line.values.map((value) => Date.parse(value.temporal_start)));
  const first = Math.min(...starts);
  const last = Math.max(Date.parse(asOf), ...one.lines.flatMap((line) => line.values.map((value) => Date.parse(value.temporal_end ?? asOf))));
  const at = (time) => (last > first ? (100 * (time - first)) / (last - first) : 0);
  return html`
    <section class="subject" aria-label=${one.subject}>
      <h2>${visible(one.subject)}
        ${one.document_entity && status.state === "ready" && html`
          <a class="beside" href=${link("graph", { id: one.document_entity })}>in the documents’ graph</a>`}</h2>
      <p class="axis quiet" aria-hidden="true"><span>${new Date(first).toISOString().slice(0, 10)}</span><span>${new Date(last).toISOString().slice(0, 10)}</span></p>
      ${one.lines.map((line) => html`
        <h3>${visible(line.predicate.replaceAll("_", " "))}
          ${line.single_valued && line.values.length > 1 && html`<span class="quiet"> one value at a time</span>`}</h3>
        <ol class="values">
          ${[...line.values].reverse().map((value) => {
            const start = at(Date.parse(value.temporal_start));
            const end = at(Date.parse(value.temporal_end ?? asOf));
            return html`<li key=${value.id} class=${value.holds ? "" : "old"}>
              <span class="value">${visible(value.object)}</span>
              <span class="interval">${value.temporal_end
                ? html`${day(value.temporal_start)} to ${day(value.temporal_end)}${!value.holds && html` <span class="flag">outdated</span>`}`
                : html`since ${day(value.temporal_start)}`}
                ${value.source_item && html` · <a href=${link("memory", { id: value.source_item, session })}>source</a>`}</span>
              <span class="track" aria-hidden="true"><span style=${{ left: `${start}%`, width: `${Math.max(1, end - start)}%` }}></span></span>
            </li>`;
          })}
        </ol>`)}
    </section>`;
}

// Tiers and budgets

const PARTS = {
  working: ["Working memory of the session", "the turns that are not summarised yet; above this they are"],
  core: ["Core memory", "part of every block, never pruned"],
  session: ["Session summaries", "of sessions that have ended or overflowed"],
  epoch: ["Epoch summaries", "of many session summaries"],
};

function Budgets({ about, session }) {
  const table = (title, counts, name = (key) => key) => Object.keys(counts).length > 0 && html`
    <section><h3>${title}</h3><table><tbody>
      ${Object.entries(counts).map(([key, count]) => html`<tr><th scope="row">${name(key)}</th><td class="number">${number(count)}</td></tr>`)}
    </tbody></table></section>`;
  return html`
    <p class="summary">${plural(about.n_items, "memory", "memories")} in project ${visible(about.project || "(none)")}${about.oldest && html`, from ${day(about.oldest)} to ${day(about.newest)}`}; ${plural(about.n_facts, "fact")}, ${number(about.n_facts_holding)} of which hold, about ${plural(about.n_entities, "name")}.</p>
    <h2>What a block has room for</h2>
    ${about.parts.map((part) => html`
      <div key=${part.name}><${Meter} label=${`${PARTS[part.name][0]} (${plural(part.n_items, "item")})`} used=${part.tokens} limit=${part.budget} unit="tokens" />
      <p class="quiet note">${PARTS[part.name][1]}</p></div>`)}
    ${!session && about.sessions.length > 0 && html`<p class="quiet">Working memory belongs to a session; choose one below.</p>`}
    <h2>Store</h2>
    <${Meter} label="File" used=${Math.round(about.store_bytes / 1024)} limit=${Math.round(about.max_bytes / 1024)} unit="KiB" />
    <p class="quiet note">${about.retention_days ? `What is older than ${plural(about.retention_days, "day")} is deleted.` : "Nothing is deleted for its age."}</p>
    <div class="counts">
      ${table("By kind", about.by_kind)}
      ${table("By tier", about.by_tier, (tier) => TIERS[tier])}
      ${table("By state", about.by_state)}
    </div>
    ${about.sessions.length > 0 && html`
      <h2>Sessions</h2>
      <${Wide} label="Sessions"><table><thead><tr><th scope="col">session</th><th scope="col">items</th><th scope="col">first</th><th scope="col">last</th></tr></thead><tbody>
        ${about.sessions.map((one) => html`<tr key=${one.session} class=${one.session === session ? "chosen" : ""}>
          <th scope="row">${one.session
            ? html`<a href=${link("memory", { tab: "budgets", session: one.session })}>${visible(one.session)}</a>`
            : html`<span class="quiet">(none)</span>`}</th>
          <td class="number">${number(one.n_items)}</td><td>${when(one.first)}</td><td>${when(one.last)}</td></tr>`)}
      </tbody></table><//>`}`;
}
