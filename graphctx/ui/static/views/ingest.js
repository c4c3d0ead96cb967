// Documents in: files that are dropped or chosen, folders and addresses, the job that reads them, and snapshots.
import { html, useEffect, useMemo, useState } from "../lib/html.js";
import { call, useLoaded } from "../lib/api.js";
import { cancelUpload, chosenFiles, droppedFiles, isReadable, sendFiles, useUpload } from "../lib/files.js";
import { Loaded, Problem } from "../lib/parts.js";
import { go, link } from "../lib/router.js";
import { bytes, number, plural, visible } from "../lib/text.js";
import { JobProgress, JobResult, Report, useJob, useJobEnd } from "../parts/job.js";
import { Snapshots } from "../parts/snapshots.js";

export default function Ingest(properties) {
  const { status } = properties;
  if (!status.may_write) {
    return html`
      <h1>Ingest</h1>
      <div class="card">
        <p>You may read here, and not add or remove documents.</p>
        <p class="quiet">Whoever owns a token that <span class="code">[server] admins</span> names may do so on this page,
          and everybody on the server's machine with <span class="code">graphctx ingest FOLDER</span>
          or <span class="code">graphctx ui</span>.</p>
      </div>`;
  }
  return html`<div class="library"><${Writable} ...${properties} /></div>`;
}

function Writable({ status, params, reload }) {
  const empty = status.state === "empty";
  const options = useLoaded((signal) => call("ingest_options", {}, signal), [status.snapshot_id]);
  const { job, error, follow } = useJob();
  const [ended, setEnded] = useState(false);
  useJobEnd(job, (done) => {
    setEnded(true);
    reload();
    options.reload();
    if (empty && done.state === "done") go("ask");
  }, empty);
  const start = async (choice) => {
    setEnded(false);
    await call("ingest", choice);
    follow();
  };
  const running = job?.state === "running";
  return html`
    <h1>${empty ? "Begin with your documents" : "Ingest"}</h1>
    ${status.fault && html`<${Problem} error=${{ message: status.fault }} />`}
    ${error && html`<${Problem} error=${error} retry=${follow} />`}
    ${running && html`<${JobProgress} ...${{ job, follow }} first=${empty} />`}
    ${!running && job && (ended || job.state === "failed") && html`
      <${JobResult} job=${job}>
        ${!empty && html`<p><a class="button primary" href=${link("ask")}>Ask a question</a> <a class="button" href=${link("documents")}>See the documents</a></p>`}
      <//>`}
    <${Loaded} of=${options}>
      ${(known) => known.replica_of
        ? html`<p class="card">This is a copy of <span class="code">${visible(known.replica_of)}</span>, which only follows. Ingest where it is published from.</p>`
        : html`
          ${!running && html`<${Add} ...${{ known, empty, start }} />`}
          ${!empty && html`
            <${Sources} ...${{ known, start, running }} />
            <${Snapshots} ...${{ status, params, reload, running }} />
            <${Earlier} reports=${known.reports} />`}`}
    <//>`;
}

function Add({ known, empty, start }) {
  const [staged, setStaged] = useState([]);
  const [folder, setFolder] = useState("");
  const [over, setOver] = useState(false);
  const [error, setError] = useState();
  const upload = useUpload();
  const suffixes = useMemo(() => new Set(known.suffixes), [known]);
  const problem = ({ file, path }) => !isReadable(path, suffixes) ? "this type cannot be read"
    : file.size === 0 ? "the file is empty" : file.size > known.max_bytes ? `larger than ${bytes(known.max_bytes)}` : "";
  const stage = (files) => setStaged((before) => {
    const all = new Map([...before, ...files.map((one) => ({ ...one, problem: problem(one) }))].map((one) => [one.path, one]));
    return [...all.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  });
  useEffect(() => { // a file that misses its place must not replace the page
    const ignore = (event) => event.preventDefault();
    addEventListener("dragover", ignore);
    addEventListener("drop", ignore);
    return () => { removeEventListener("dragover", ignore); removeEventListener("drop", ignore); };
  }, []);
  const drop = async (event) => {
    event.preventDefault();
    setOver(false);
    setError(undefined);
    try {
      stage(await droppedFiles(event.dataTransfer));
    } catch (failure) {
      setError({ message: `The files could not be read: ${failure.message}` });
    }
  };
  const choose = (event) => {
    stage(chosenFiles(event.target.files));
    event.target.value = "";
  };
  const ready = staged.filter((one) => !one.problem);
  const below = folder.trim().replace(/^\/+|\/+$/g, "");
  const add = async () => {
    setError(undefined);
    try {
      const arrived = await sendFiles(ready.map(({ file, path }) => ({ file, path: below ? `${below}/${path}` : path })), known.part_bytes);
      setStaged([]);
      if (arrived) await start({ uploads: true });
    } catch (failure) {
      setError(failure.name === "AbortError" ? { message: "The upload was cancelled. Nothing was read." } : failure);
    }
  };
  const sending = upload.state === "running";
  return html`
    <section aria-labelledby="add-title">
      <h2 id="add-title" class=${empty ? "hidden" : ""}>Add documents</h2>
      ${error && html`<${Problem} error=${error} />`}
      <div class=${`drop ${over ? "over" : ""} ${empty ? "large" : ""}`} role="group" aria-label="Files to add"
        onDragOver=${(event) => { event.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)} onDrop=${drop}>
        <p class="invitation">Drop files or folders here</p>
        <p>
          <label class="button primary">Choose files<input class="hidden" type="file" multiple onChange=${choose} /></label>
          <label class="button">Choose a folder<input class="hidden" type="file" webkitdirectory onChange=${choose} /></label>
        </p>
        <p class="quiet">Markdown, PDF, Word, PowerPoint, HTML, text, tables, e-mail, notebooks, source code and more, up
          to ${bytes(known.max_bytes)} a file. They stay on the machine of this server.</p>
      </div>
      ${upload.refused.length > 0 && html`
        <div class="problem" role="alert"><p>${plural(upload.refused.length, "file")} not uploaded:</p>
          <ul>${upload.refused.slice(0, 50).map(({ path, reason }) => html`<li><span class="code">${visible(path)}</span>: ${visible(reason)}</li>`)}</ul></div>`}
      ${sending && html`
        <div class="card" role="group" aria-label="Upload">
          <p class="quiet" role="status">Uploading</p>
          <p><progress max=${upload.total || 1} value=${upload.done} aria-label="Uploaded"></progress>
            <span class="quiet">${bytes(upload.done)} of ${bytes(upload.total)} · ${visible(upload.name)}</span></p>
          <button onClick=${cancelUpload}>Cancel</button>
        </div>`}
      ${!sending && staged.length > 0 && html`
        <div class="card staged">
          <p role="status">${plural(ready.length, "file")}, ${bytes(ready.reduce((sum, { file }) => sum + file.size, 0))}${
            staged.length > ready.length && html`; <span class="wrong">${number(staged.length - ready.length)} cannot be read</span>`}</p>
          <ul>
            ${staged.slice(0, 100).map(({ path, file, problem: why }) => html`
              <li key=${path}>
                <span class="code path">${visible(path)}</span>
                <span class=${why ? "wrong" : "quiet"}>${why || bytes(file.size)}</span>
                <button class="plain" aria-label=${`Leave out ${path}`} title="Leave out"
                  onClick=${() => setStaged(staged.filter((one) => one.path !== path))}>✕</button>
              </li>`)}
            ${staged.length > 100 && html`<li class="quiet">and ${number(staged.length - 100)} more</li>`}
          </ul>
          <p class="strip">
            <label>Put them into the folder <input list="folders" value=${folder} placeholder="(top)" size="14"
              onInput=${(event) => setFolder(event.target.value)} /></label>
            <datalist id="folders">${known.folders.map((name) => html`<option value=${name} />`)}</datalist>
            <button onClick=${() => setStaged([])}>Clear</button>
            <button class="primary" disabled=${!ready.length} onClick=${add}>Add ${plural(ready.length, "file")}</button>
          </p>
        </div>`}
      ${!sending && !staged.length && known.uploaded > 0 && !known.sources.some((source) => source.uploads) && html`
        <p class="card strip">${plural(known.uploaded, "uploaded file")} not read yet
          <button class="primary" onClick=${() => start({ uploads: true }).catch(setError)}>Read ${known.uploaded === 1 ? "it" : "them"}</button></p>`}
      <${ByPath} ...${{ start, sending }} />
    </section>`;
}

function ByPath({ start, sending }) {
  const [path, setPath] = useState("");
  const [prune, setPrune] = useState(false);
  const [error, setError] = useState();
  const submit = async (event) => {
    event.preventDefault();
    setError(undefined);
    try {
      await start({ paths: [path.trim()], prune });
    } catch (failure) {
      setError(failure);
    }
  };
  return html`
    <details class="list">
      <summary>Add a folder of this server's machine, or a web page</summary>
      <form onSubmit=${submit} class="strip">
        <label class="hidden" for="path">Folder, file or address</label>
        <input id="path" class="code" value=${path} placeholder="/home/ana/notes or https://example.org/page" required
          onInput=${(event) => setPath(event.target.value)} />
        <button disabled=${sending || !path.trim()}>Add</button>
        <label class="check"><input type="checkbox" checked=${prune} onChange=${(event) => setPrune(event.target.checked)} />
          Drop documents whose file is gone</label>
      </form>
      <p class="quiet">Files are read where they are; later changes are taken in when the folder is read again.</p>
      ${error && html`<${Problem} error=${error} />`}
    </details>`;
}

function Sources({ known, start, running }) {
  const [error, setError] = useState();
  const attempt = (choice) => start(choice).catch(setError);
  return html`
    <section aria-labelledby="sources-title">
      <h2 id="sources-title">Sources</h2>
      ${error && html`<${Problem} error=${error} />`}
      <ul class="lines">
        ${known.sources.map((source) => html`
          <li key=${source.name}>
            <span><strong>${visible(source.uploads ? "Uploaded files" : source.name)}</strong>
              <span class="quiet code path"> ${visible(source.path)}</span></span>
            <button disabled=${running} aria-label=${`Read again: ${source.uploads ? "the uploaded files" : source.name}`}
              onClick=${() => attempt(source.uploads ? { uploads: true } : { sources: [source.name] })}>Read again</button>
          </li>`)}
      </ul>
      ${known.removed.length > 0 && html`
        <details class="list">
          <summary>${plural(known.removed.length, "removed document")} that stay${known.removed.length === 1 ? "s" : ""} out</summary>
          <ul class="lines">${known.removed.slice(0, 200).map(({ uri, restorable }) => html`
            <li key=${uri}><span class="code path">${visible(uri)}</span>
              ${restorable
                ? html`<button disabled=${running} aria-label=${`Take in again: ${uri}`} onClick=${() => attempt({ restore: [uri] })}>Take in again</button>`
                : html`<span class="quiet">its file is gone</span>`}
            </li>`)}</ul>
        </details>`}
    </section>`;
}

const Earlier = ({ reports }) => reports.length > 0 && html`
  <section aria-labelledby="earlier-title">
    <h2 id="earlier-title">Latest ingest of each source</h2>
    ${reports.map(({ paths, ended_at: ended, report }) => html`
      <details class="list" key=${ended}>
        <summary><span class="quiet">${new Date(ended).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })}</span>
          ${" "}<span class="code path">${visible(paths.slice(0, 2).join(", "))}${paths.length > 2 && ` and ${number(paths.length - 2)} more`}</span>
          ${report.skipped.length > 0 && html` <span class="wrong">${number(report.skipped.length)} skipped</span>`}</summary>
        <${Report} report=${report} />
      </details>`)}
  </section>`;
