// What is published: a list to search and to page through, what was skipped and why, and the document itself.
import { html, useEffect, useMemo, useRef, useState } from "../lib/html.js";
import { call, useLoaded } from "../lib/api.js";
import { Empty, Loaded, Problem } from "../lib/parts.js";
import { go, link } from "../lib/router.js";
import { bytes, number, plural, visible } from "../lib/text.js";
import { RemoveDocuments } from "../parts/dialog.js";
import { JobProgress, JobResult, useJob, useJobEnd } from "../parts/job.js";
import { Reader } from "../parts/reader.js";

const LIMIT = 50;
const TYPING_MS = 250;
const COLUMNS = [["title", "Document"], ["size", "Size"], ["updated", "Updated"]];

export default function Documents({ status, params, reload }) {
  const uri = params.get("uri");
  return html`<div class="library">${uri ? html`<${Document} ...${{ uri, params, status }} />` : html`<${List} ...${{ status, params, reload }} />`}</div>`;
}

const listed = (params) => Object.fromEntries(["q", "tag", "folder", "sort", "page", "status"].map((name) => [name, params.get(name) ?? ""]));

function Document({ uri, params, status }) {
  const [asked, setAsked] = useState(false);
  const start = Number(params.get("start")), end = Number(params.get("end"));
  const marks = useMemo(() => (end > start ? [{ start, end, strong: true }] : []), [start, end]);
  const back = link("documents", listed(params));
  const close = () => { location.hash = back; };
  const actions = status.may_write && html`<button class="plain small" onClick=${() => setAsked(true)}>Remove…</button>`;
  return html`
    <h1 class="hidden">Document</h1>
    <p><a href=${back}>← All documents</a></p>
    <${Reader} key=${uri} ...${{ uri, marks, actions }} at=${params.has("start") ? start : undefined} onClose=${close} />
    ${asked && html`<${RemoveDocuments} uris=${[uri]} onBegun=${close} onCancel=${() => setAsked(false)} />`}`;
}

function List({ status, params, reload }) {
  const shown = listed(params);
  const [query, setQuery] = useState(shown.q);
  const typed = useRef(shown.q);
  const [chosen, setChosen] = useState(new Set());
  const [asked, setAsked] = useState(false);
  const { job, follow } = useJob();
  const [ended, setEnded] = useState();
  const page = Math.max(1, Number(shown.page) || 1);
  const skipped = shown.status === "skipped";
  const show = (changes, replace = false) => go("documents", { ...shown, page: "", ...changes }, replace);
  useEffect(() => {
    if (query === shown.q) return undefined;
    const here = location.hash; // a link may have been followed since, of which the route does not know yet
    const timer = setTimeout(() => {
      if (location.hash !== here) return;
      typed.current = query;
      show({ q: query }, true);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [query, JSON.stringify(shown)]);
  useEffect(() => {
    if (shown.q !== typed.current) setQuery(shown.q); // a link or the history changed it; more may have been typed since
    typed.current = shown.q;
  }, [shown.q]);
  const offset = (page - 1) * LIMIT;
  const found = useLoaded((signal) => skipped
    ? call("skipped", { query: shown.q, offset, limit: LIMIT }, signal)
    : call("documents", {
      query: shown.q, offset, limit: LIMIT, sort: shown.sort.replace("-", "") || "uri", descending: shown.sort.startsWith("-"),
      filters: { doc_tag: shown.tag ? [shown.tag] : [], path_prefix: shown.folder || undefined },
    }, signal), [JSON.stringify(shown), status.snapshot_id]);
  useJobEnd(job, (done) => {
    setEnded(done);
    setChosen(new Set());
    reload();
    found.reload();
  });
  const busy = job?.state === "running";
  return html`
    <h1>Documents</h1>
    <form class="strip filters" role="search" onSubmit=${(event) => { event.preventDefault(); show({ q: query }); }}>
      <label class="hidden" for="document-query">Search titles and paths</label>
      <input id="document-query" type="search" value=${query} placeholder="Search titles and paths" autocomplete="off"
        onInput=${(event) => setQuery(event.target.value)} />
      ${!skipped && html`<${Tags} tags=${found.value?.tags ?? []} tag=${shown.tag} onChange=${(tag) => show({ tag })} />`}
      ${shown.folder && html`<button type="button" onClick=${() => show({ folder: "" })}>Folder ${visible(shown.folder)} ✕</button>`}
    </form>
    ${busy && html`<${JobProgress} ...${{ job, follow }} />`}
    ${ended && !busy && html`<${JobResult} job=${ended} />`}
    ${(skipped || found.value?.skipped > 0) && html`
      <nav class="tabs" aria-label="Status">
        <a href=${link("documents", { ...shown, status: "", page: "" })} aria-current=${skipped ? undefined : "true"}>Published</a>
        <a href=${link("documents", { ...shown, status: "skipped", page: "" })} aria-current=${skipped ? "true" : undefined}>Skipped${
          !skipped && ` (${number(found.value.skipped)})`}</a>
      </nav>`}
    <${Loaded} of=${found}>
      ${(value) => skipped
        ? value.files && html`<${SkippedFiles} ...${{ value, shown }} reload=${found.reload} may_write=${status.may_write} />`
        : value.documents && html`
          ${chosen.size > 0 && html`
            <p class="card strip chosen" role="status">${plural(chosen.size, "document")} chosen
              <button class="danger" disabled=${busy} onClick=${() => setAsked(true)}>Remove…</button>
              <button onClick=${() => setChosen(new Set())}>Choose none</button></p>`}
          <${Table} ...${{ value, shown, show, chosen, setChosen }} may_write=${status.may_write} />`}
    <//>
    ${found.value && html`<${Pages} total=${found.value.total} ...${{ page, shown }} />`}
    ${asked && html`<${RemoveDocuments} uris=${[...chosen]} onCancel=${() => setAsked(false)}
      onBegun=${() => { setAsked(false); setEnded(undefined); follow(); }} />`}`;
}

const Tags = ({ tags, tag, onChange }) => (tags.length > 0 || tag) && html`
  <label>Tag <select value=${tag} onChange=${(event) => onChange(event.target.value)}>
    <option value="">any</option>
    ${tag && !tags.some((one) => one.tag === tag) && html`<option value=${tag} selected>${visible(tag)}</option>`}
    ${tags.map((one) => html`<option value=${one.tag} selected=${one.tag === tag}>${visible(one.tag)} (${number(one.documents)})</option>`)}
  </select></label>`;

function Table({ value, shown, show, chosen, setChosen, may_write: mayWrite }) {
  if (!value.total) {
    return html`<${Empty}>${shown.q || shown.tag || shown.folder ? html`No document fits. <a href=${link("documents")}>Show all</a>`
      : html`No documents yet. <a href=${link("ingest")}>Add some</a>`}<//>`;
  }
  const toggle = (uris, on) => setChosen((before) => {
    const after = new Set(before);
    for (const uri of uris) if (on) after.add(uri); else after.delete(uri);
    return after;
  });
  const uris = value.documents.map((document) => document.uri);
  const all = uris.every((uri) => chosen.has(uri));
  const sorted = shown.sort.replace("-", "");
  return html`
    <table class="documents">
      <thead><tr>
        ${mayWrite && html`<th class="choose"><input type="checkbox" checked=${all} aria-label="Choose all of this page"
          onChange=${(event) => toggle(uris, event.target.checked)} /></th>`}
        ${COLUMNS.map(([name, title]) => html`
          <th class=${name} aria-sort=${sorted === name ? (shown.sort.startsWith("-") ? "descending" : "ascending") : undefined}>
            <button class="plain" onClick=${() => show({ sort: nextSort(name, shown.sort) })}>${title}${
              sorted === name ? (shown.sort.startsWith("-") ? " ↓" : " ↑") : ""}</button></th>`)}
      </tr></thead>
      <tbody>
        ${value.documents.map((document) => html`
          <tr key=${document.uri} class=${chosen.has(document.uri) ? "is-chosen" : ""}>
            ${mayWrite && html`<td class="choose"><input type="checkbox" checked=${chosen.has(document.uri)} aria-label=${`Choose ${document.title}`}
              onChange=${(event) => toggle([document.uri], event.target.checked)} /></td>`}
            <td class="title">
              <a href=${link("documents", { ...shown, uri: document.uri })}>${visible(document.title)}</a>
              <div class="quiet"><span class="code path">${visible(document.uri)}</span>
                ${document.tags.map((tag) => html` <button class="tag" onClick=${() => show({ tag })} aria-label=${`Only documents with the tag ${tag}`}>${visible(tag)}</button>`)}</div>
              ${document.note && html`<div class="wrong">${visible(document.note)}</div>`}
            </td>
            <td class="size">${bytes(document.bytes)}${document.pages > 1 && html`<span class="quiet">, ${number(document.pages)} pages</span>`}</td>
            <td class="updated">${document.updated_at?.slice(0, 10) ?? ""}</td>
          </tr>`)}
      </tbody>
    </table>`;
}

// Ascending, descending, and back to the order of the paths; what is newest or largest comes first.
function nextSort(name, sort) {
  const order = name === "title" ? ["title", "-title", ""] : [`-${name}`, name, ""];
  return order[(order.indexOf(sort) + 1) % order.length];
}

function SkippedFiles({ value, shown, reload, may_write: mayWrite }) {
  const [error, setError] = useState();
  const forget = (uri) => call("delete_upload", { uri }).then(reload, setError);
  if (!value.total) return html`<${Empty}>${shown.q ? "No skipped file fits." : "Nothing was skipped."}<//>`;
  return html`
    ${error && html`<${Problem} error=${error} />`}
    <table class="documents skipped"><thead><tr><th>File</th><th>Why it was skipped</th>${mayWrite && html`<th><span class="hidden">Actions</span></th>`}</tr></thead>
      <tbody>${value.files.map((file) => html`
        <tr key=${file.uri}><td><span class="code path">${visible(file.uri)}</span></td><td>${visible(file.reason)}</td>
          ${mayWrite && html`<td>${file.uploaded && html`
            <button aria-label=${`Delete ${file.uri}`} onClick=${() => forget(file.uri)}>Delete</button>`}</td>`}</tr>`)}</tbody></table>`;
}

function Pages({ total, page, shown }) {
  const last = Math.max(1, Math.ceil(total / LIMIT));
  const to = (number) => link("documents", { ...shown, page: number > 1 ? number : "" });
  return html`
    <nav class="strip paging" aria-label="Pages">
      <span class="quiet" role="status">${total > 0 && `${number((page - 1) * LIMIT + 1)}–${number(Math.min(total, page * LIMIT))} of ${number(total)}`}</span>
      ${page > 1 && html`<a class="button" href=${to(page - 1)} rel="prev">Previous</a>`}
      ${page < last && html`<a class="button" href=${to(page + 1)} rel="next">Next</a>`}
    </nav>`;
}
