// The layers of AGENTS.db: files and their signatures, chunks, search, and proposals to accept or to reject.
import { html, useEffect, useState } from "../lib/html.js";
import { call, tool, useLoaded } from "../lib/api.js";
import { Confirm, Tabs, Wide, when } from "../lib/controls.js";
import { wordDiff } from "../lib/diff.js";
import { Empty, Loaded } from "../lib/parts.js";
import { go, link } from "../lib/router.js";
import { number, plural, visible } from "../lib/text.js";

const PAGE = 50;
const STATUSES = ["pending", "accepted", "rejected"];
const SIGNATURES = { none: "not signed", older: "changed after it was signed", present: "signed" };

export default function Layers({ params }) {
  const tab = params.get("tab") ?? "";
  const about = useLoaded((signal) => call("layers_overview", {}, signal), []);
  return html`
    <h1>Layers</h1>
    <${Loaded} of=${about} what="Reading the layers">
      ${(found) => html`
        <${Tabs} view="layers" label="Parts of the layers" open=${tab} tabs=${[["", "Chunks"],
          ["proposals", found.n_pending ? `Proposals (${number(found.n_pending)})` : "Proposals"]]} />
        ${params.get("id") ? html`<${Whole} params=${params} />`
          : tab === "proposals" ? html`<${Proposals} ...${{ params, about: found, changed: about.reload }} />`
          : html`<${Chunks} ...${{ params, about: found }} />`}`}
    <//>`;
}

function Chunks({ params, about }) {
  const chosen = { q: params.get("q") ?? "", layer: params.get("layer") ?? "", kind: params.get("kind") ?? "" };
  const limit = Number(params.get("n") ?? PAGE);
  const [text, setText] = useState(chosen.q);
  useEffect(() => setText(chosen.q), [chosen.q]);
  const choose = (more) => go("layers", { ...chosen, ...more });
  const listed = useLoaded(async (signal) => {
    const layers = chosen.layer ? [chosen.layer] : undefined;
    if (!chosen.q) return call("layers_chunks", { layers, kind: chosen.kind || undefined, limit: Math.min(limit, 200) }, signal);
    const found = await tool("agents_search", { query: chosen.q, layers, k: 20, filters: { kind: [chosen.kind].filter(Boolean) } }, signal);
    return {
      chunks: found.chunks.map((chunk) => ({
        ...chunk, n_chars: chunk.content_chars, revisions: chunk.revisions ?? 1,
        retracted_by: (chunk.retracted_by ?? []).map((one) => `${one.layer} ${one.id}`), sources: chunk.sources ?? [],
      })),
      conflicts: found.conflicts ?? [], notes: found.notes ?? [],
    };
  }, [chosen.q, chosen.layer, chosen.kind, limit]);
  return html`
    <${Files} layers=${about.layers} />
    <form class="ask" role="search" onSubmit=${(event) => { event.preventDefault(); choose({ q: text.trim() }); }}>
      <label class="hidden" for="layers-query">Search the layers</label>
      <input id="layers-query" type="search" value=${text} onInput=${(event) => setText(event.target.value)} placeholder="What has been written down about this?" />
      <button class="primary">Search</button>
    </form>
    <div class="filters">
      <label>Layer <select value=${chosen.layer} onChange=${(event) => choose({ layer: event.target.value })}>
        <option value="">all</option>
        ${about.layers.filter((one) => one.exists).map((one) => html`<option value=${one.layer}>${one.layer}</option>`)}
      </select></label>
      <label>Kind <select value=${chosen.kind} onChange=${(event) => choose({ kind: event.target.value })}>
        <option value="">all</option>
        ${about.kinds.map((kind) => html`<option value=${kind}>${visible(kind)}</option>`)}
      </select></label>
    </div>
    <${Loaded} of=${listed} what=${chosen.q ? "Searching" : "Loading"}>
      ${(found) => html`
        ${(found.notes ?? []).map((note) => html`<p class="quiet">${visible(note)}</p>`)}
        <${Conflicts} conflicts=${found.conflicts ?? []} />
        ${!found.chunks.length && html`<${Empty}>${chosen.q || chosen.layer || chosen.kind ? "No chunk passes this." : "The layers hold no chunk yet. Agents write with agents_context_write."}<//>`}
        ${found.chunks.map((chunk) => html`<${Chunk} key=${`${chunk.layer} ${chunk.id}`} chunk=${chunk} />`)}
        ${found.more && limit < 200 && html`<p><a href=${link("layers", { ...chosen, n: limit + PAGE })}>Show more</a></p>`}
        ${found.more && limit >= 200 && html`<p class="quiet">The first 200 are listed; search or filter for others.</p>`}`}
    <//>`;
}

const Files = ({ layers }) => html`
  <${Wide} label="Files of the layers"><table class="files">
    <caption class="hidden">The layers by precedence; base is authoritative</caption>
    <thead><tr><th scope="col">layer</th><th scope="col">file</th><th scope="col" class="number">chunks</th><th scope="col">model</th><th scope="col">signature</th></tr></thead>
    <tbody>${layers.map((one) => html`
      <tr key=${one.layer}><th scope="row">${one.exists ? html`<a href=${link("layers", { layer: one.layer })}>${one.layer}</a>` : one.layer}</th>
        ${one.fault ? html`<td colspan="4" class="wrong">${one.file}: ${visible(one.fault)}</td>`
          : !one.exists ? html`<td colspan="4" class="quiet">no ${one.file} yet</td>`
          : html`<td><code>${one.file}</code></td><td class="number">${number(one.n_chunks)}</td><td class="quiet">${visible(one.model)}</td>
            <td class=${one.signature === "older" ? "wrong" : one.signature === "none" ? "quiet" : ""}>${SIGNATURES[one.signature]}</td>`}
      </tr>`)}</tbody></table><//>
  <p class="quiet note"><code>graphctx layers sign</code> signs a file with your key; <code>graphctx layers verify</code> checks a signature with its owner’s.</p>`;

function Chunk({ chunk, whole = false }) {
  const cut = !whole && chunk.n_chars > [...chunk.content].length;
  return html`
    <article class=${`memory ${chunk.retracted_by?.length ? "old" : ""}`} aria-label=${`${chunk.layer} ${chunk.id}`}>
      <div class="head">
        <p class="provenance">
          <span class="kind">${chunk.layer} ${chunk.id}</span><span>${visible(chunk.kind)}</span>
          <span>by ${visible(chunk.author)}</span><span>confidence ${chunk.confidence.toFixed(2)}</span>
          ${chunk.created_at && html`<span>${when(chunk.created_at)}</span>`}
          ${chunk.revisions > 1 && html`<span class="flag">edited ${chunk.revisions - 1}×</span>`}
          ${chunk.retracted_by?.length > 0 && html`<span class="flag wrong">retracted by ${chunk.retracted_by.join(", ")}</span>`}
        </p>
        ${!whole && html`<div class="actions"><a href=${link("layers", { layer: chunk.layer, id: chunk.id })}>Details</a></div>`}
      </div>
      <p class="text">${visible(chunk.content)}${cut && html` <a href=${link("layers", { layer: chunk.layer, id: chunk.id })}>… of ${number(chunk.n_chars)} characters</a>`}</p>
      ${chunk.sources.length > 0 && html`<p class="provenance">from ${chunk.sources.map((source) => html`<code>${/^\d+$/.test(source) ? `chunk ${source}` : visible(source)}</code>`)}</p>`}
    </article>`;
}

const Conflicts = ({ conflicts }) => conflicts.length > 0 && html`
  <div class="problem">
    <p>Chunks disagree. Nothing settles it but a person; the base layer is authoritative.</p>
    <ul>${conflicts.map((one) => html`<li>${one.reason}: ${visible(one.about)}
      <ul>${one.members.map((side) => html`<li><a href=${link("layers", { layer: side.layer, id: side.id })}>${side.layer} ${side.id}</a> ${visible(side.excerpt)}</li>`)}</ul></li>`)}</ul>
  </div>`;

function Whole({ params }) {
  const asked = { layer: params.get("layer") ?? "base", id: Number(params.get("id")) };
  const loaded = useLoaded((signal) => call("layers_chunk", asked, signal), [asked.layer, asked.id]);
  return html`
    <p><a href=${link("layers")}>All chunks</a></p>
    <${Loaded} of=${loaded}>
      ${({ chunk, conflicts, notes }) => html`
        <${Chunk} chunk=${chunk} whole />
        <${Conflicts} conflicts=${conflicts} />
        ${notes.map((note) => html`<p class="quiet">${visible(note)}</p>`)}`}
    <//>`;
}

// Proposals

function Proposals({ params, about, changed }) {
  const status = params.get("status") ?? "pending";
  const [said, setSaid] = useState("");
  const loaded = useLoaded((signal) => call("layers_proposals", { status }, signal), [status]);
  const done = (message) => { setSaid(message); loaded.reload(); changed(); };
  return html`
    <div class="filters"><label>Status
      <select value=${status} onChange=${(event) => go("layers", { tab: "proposals", status: event.target.value })}>
        ${STATUSES.map((one) => html`<option value=${one}>${one}</option>`)}
      </select></label></div>
    <p role="status">${said}</p>
    <${Loaded} of=${loaded}>
      ${(found) => html`
        ${!found.proposals.length && html`<${Empty}>${status === "pending" ? "Nothing waits for a decision." : `No ${status} proposals.`}<//>`}
        ${found.proposals.map((one) => html`<${Proposal} key=${one.id} ...${{ one, about, done }} />`)}
        ${found.more && html`<p class="quiet">The newest ${number(found.proposals.length)} are listed.</p>`}`}
    <//>`;
}

function effect(one) {
  if (!one.exists) return "The delta layer does not hold this chunk any more.";
  if (one.status !== "pending") return "";
  if (one.changed) return "The chunk was edited after it was proposed, so it cannot be accepted. Reject it, and have it proposed anew.";
  if (one.held_as) return `The user layer holds this already, as chunk ${one.held_as}; accepting it adds nothing.`;
  if (one.id_is_taken) return "The user layer uses this id for another chunk, so the copy gets a free one.";
  return "Accepting copies the chunk into the user layer.";
}

function Proposal({ one, about, done }) {
  const [open, setOpen] = useState("");
  const [reason, setReason] = useState("");
  const decide = (action) => async () => {
    const found = await call("layers_decide", { id: one.id, action, reason, digest: one.digest ?? "" });
    const [copy] = found.promoted;
    done(`Proposal ${one.id} is ${found.status}${copy ? `; in the user layer as chunk ${copy.user_id}` : ""}.`);
  };
  return html`
    <article class="card proposal" aria-label=${`Proposal ${one.id}`}>
      <p class="provenance"><span class="kind">Proposal ${one.id}</span><span>delta ${one.context_id} → user</span>
        <span>by ${visible(one.by)}</span>${one.at && html`<span>${when(one.at)}</span>`}
        ${one.status !== "pending" && html`<span class="flag">${one.status} by ${visible(one.decided_by)} ${when(one.decided_at)}</span>`}</p>
      ${one.reason && html`<p>“${visible(one.reason)}”</p>`}
      <p class=${one.changed || !one.exists ? "wrong" : "quiet"}>${effect(one)}</p>
      ${one.chunk && html`
        ${one.beside.length === 0 && html`<div class="diff" role="group" aria-label="What is added"><ins>${visible(one.chunk.content)}</ins></div>`}
        ${one.beside.map((other) => html`<${Difference} key=${`${other.layer} ${other.id}`} before=${other} after=${one.chunk} />`)}
        <p class="provenance"><span>${visible(one.chunk.kind)}</span><span>author ${visible(one.chunk.author)}</span><span>confidence ${one.chunk.confidence.toFixed(2)}</span>
          ${one.chunk.sources.length > 0 && html`<span>from ${visible(one.chunk.sources.join(", "))}</span>`}</p>
        <${Conflicts} conflicts=${one.conflicts} />`}
      ${one.status === "pending" && about.may_decide && one.exists && !open && html`
        <div class="actions">
          <button class="primary" disabled=${one.changed} onClick=${() => setOpen("accept")}>Accept…</button>
          <button onClick=${() => setOpen("reject")}>Reject…</button>
        </div>`}
      ${one.status === "pending" && !about.may_decide && html`<p class="quiet">You may read here; a person with the right to write decides.</p>`}
      ${open && html`
        <${Confirm} onClose=${() => setOpen("")} text=${open === "accept" ? "Copy this chunk into the user layer?" : "Reject this proposal? The chunk stays in the delta layer."}
          actions=${[{ title: open === "accept" ? "Accept" : "Reject", danger: open === "reject", run: decide(open) }]}>
          <p><label>Reason (optional) <input value=${reason} maxlength="500" onInput=${(event) => setReason(event.target.value)} /></label></p>
        <//>`}
    </article>`;
}

const TAGS = { added: "ins", removed: "del", same: "span" };

const Difference = ({ before, after }) => html`
  <figure class="diff">
    <figcaption><span class="quiet">against</span> <a href=${link("layers", { layer: before.layer, id: before.id })}>${before.layer} ${before.id}</a>
      <span class="quiet">: <del>only there</del>, <ins>only in the proposal</ins></span></figcaption>
    <div>${wordDiff(before.content, after.content).map((part) => html`<${TAGS[part.kind]}>${visible(part.text)}<//>`)}</div>
  </figure>`;
