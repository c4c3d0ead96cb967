// The job that ingests or removes documents: what it is doing, and what it did.
import { html, useEffect, useRef, useState } from "../lib/html.js";
import { call } from "../lib/api.js";
import { Problem } from "../lib/parts.js";
import { link } from "../lib/router.js";
import { number, plural, visible } from "../lib/text.js";

const POLL_MS = 500;
const STEPS = {
  read: "Read the files",
  split: "Split them into passages",
  extract: "Find names and facts",
  resolve: "Join the forms of a name",
  link: "Link passages and names",
  embed: "Compute vectors",
  relate: "Relate the names",
  cluster: "Find themes",
  summarise: "Summarise the themes",
  phrase: "Phrase the summaries",
  write: "Write the index",
  publish: "Publish",
  open: "Open what is published",
};
const NAMES = Object.keys(STEPS);

/** Follow the server's job: { job, error, follow }. `follow` looks again, after a job was started or cancelled. */
export function useJob() {
  const [state, setState] = useState({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    let timer;
    const controller = new AbortController();
    const look = async () => {
      let again = true;
      try {
        const job = await call("job", {}, controller.signal);
        setState({ job });
        again = job.state === "running";
      } catch (error) {
        if (error.name === "AbortError") return;
        setState((before) => ({ ...before, error }));
      }
      if (again && !controller.signal.aborted) timer = setTimeout(look, POLL_MS);
    };
    look();
    return () => { clearTimeout(timer); controller.abort(); };
  }, [round]);
  return { ...state, follow: () => setRound((count) => count + 1) };
}

/** Call `then` once for every job that ends while this component is shown, or, with `also`, that ended before. */
export function useJobEnd(job, then, also = false) {
  const seen = useRef(also ? 0 : undefined);
  useEffect(() => {
    if (!job) return;
    if (job.state === "running" || seen.current === undefined) {
      seen.current = job.state === "running" ? 0 : job.number;
    } else if (job.number && job.number !== seen.current) {
      seen.current = job.number;
      then(job);
    }
  }, [job?.number, job?.state]);
}

const seconds = (value) => value >= 90 ? `${Math.floor(value / 60)} min ${Math.round(value % 60)} s` : `${value.toFixed(1)} s`;

/** Show a running job, with a button that cancels it. `first`: nothing is published yet. */
export function JobProgress({ job, follow, first = false }) {
  const [cancelling, setCancelling] = useState(false);
  const began = new Map(job.steps.map((step) => [step.step, step]));
  const current = job.steps.at(-1);
  const place = NAMES.indexOf(current?.step);
  const shown = NAMES.filter((name, at) => began.has(name) || (at > place && name !== "phrase"
    && !(job.kind === "remove" && name === "read")));
  const count = current && (current.total ? `${number(current.done)} of ${number(current.total)} ${current.unit}`
    : current.done ? `${number(current.done)} ${current.unit}` : "");
  const cancel = async () => {
    setCancelling(true);
    await call("cancel_job").catch(() => {});
    follow();
  };
  return html`
    <section class="card job" aria-labelledby="job-title">
      <header>
        <h2 id="job-title">${job.kind === "remove" ? "Removing documents" : "Reading your documents"}</h2>
        <span class="quiet">${seconds(job.seconds)}</span>
        ${current?.step !== "open" && html`<button onClick=${cancel} disabled=${cancelling}>Cancel</button>`}
      </header>
      <p class="hidden" role="status">${current ? `${STEPS[current.step]}${current.total > 0 && current.done === current.total ? ": done" : ""}` : "Starting"}</p>
      <ol class="steps">
        ${shown.map((name) => {
          const step = began.get(name);
          const state = step === current && step ? "current" : step && NAMES.indexOf(name) < place ? "done" : "later";
          return html`
            <li key=${name} class=${state} aria-current=${state === "current" ? "step" : undefined}>
              <span class="sign" aria-hidden="true">${state === "done" ? "✓" : state === "current" ? "●" : "○"}</span>
              <span>${STEPS[name]}</span>
              ${state === "current" && html`
                ${current.total > 0 && html`<progress max=${current.total} value=${current.done} aria-label=${STEPS[name]}></progress>`}
                <span class="quiet">${count}</span>`}
              ${state === "done" && html`<span class="quiet time">${step.seconds >= 0.1 ? seconds(step.seconds) : ""}</span>`}
            </li>`;
        })}
      </ol>
      <p class="quiet">${current ? first ? "You may leave this page; the work goes on." : "What was published before keeps answering until this is done."
        : "Starting…"}</p>
    </section>`;
}

/** Show what a job that has ended did. */
export function JobResult({ job, children }) {
  if (job.state === "failed") return html`<${Problem} error=${job.error} />`;
  if (job.state === "cancelled") {
    return html`<p class="card" role="status">Cancelled. What was published before is untouched, and the work that was
      done is kept for the next time.</p>`;
  }
  if (job.state !== "done") return null;
  return html`
    <section class="card job" aria-labelledby="job-result">
      <h2 id="job-result">${job.kind === "remove" ? "Removed" : "Done"}</h2>
      ${job.kind === "remove" ? html`<${Removal} report=${job.result} />` : html`<${Report} report=${job.result} live />`}
      ${children}
    </section>`;
}

const Removal = ({ report }) => html`
  <p role="status">${plural(report.removed.length, "document")} removed, ${number(report.documents)} left. They are gone
    from every answer and stay out of later ingests.</p>
  <p class="quiet">Older snapshots and the cache still hold them; <span class="code">graphctx snapshots prune --purge</span> erases them there.</p>`;

const KINDS = ["added", "replaced", "renamed", "removed", "unchanged"];

/** Show the report of an ingest; `live` where it has just ended. */
export function Report({ report, live = false }) {
  const changes = KINDS.filter((kind) => report[kind]).map((kind) => `${number(report[kind])} ${kind}`);
  return html`
    <p role=${live ? "status" : undefined}><strong>${plural(report.documents, "document")}</strong> published${changes.length > 0 && `: ${changes.join(", ")}`}.
      ${!report.changed && " Nothing differs from before."}</p>
    <p class="quiet">${plural(report.words, "word")}, ${plural(report.units, "passage")}, ${plural(report.entities, "name")},
      ${" "}${plural(report.communities, "theme")}, in ${seconds(report.total_seconds)}.</p>
    <${Skips} title=${`${plural(report.skipped.length, "file")} skipped`} files=${report.skipped} />
    <${Lines} title="Files that are gone; their documents are kept" lines=${report.no_longer_found} />
    <${Lines} title="Notes" lines=${report.notes} />`;
}

/** Show files with the reasons why they were skipped: [{ uri, reason }]. */
export const Skips = ({ title, files }) => files.length > 0 && html`
  <details class="list" open=${files.length <= 10}>
    <summary>${title}</summary>
    <ul>${files.slice(0, 200).map((file) => html`
      <li><span class="code">${visible(file.uri)}</span><br /><span class="quiet">${visible(file.reason)}</span></li>`)}
      ${files.length > 200 && html`<li class="quiet">and ${number(files.length - 200)} more: <a href=${link("documents", { status: "skipped" })}>all of them</a></li>`}
    </ul>
  </details>`;

const Lines = ({ title, lines }) => lines.length > 0 && html`
  <details class="list" open=${lines.length <= 5}>
    <summary>${title} (${number(lines.length)})</summary>
    <ul>${lines.slice(0, 200).map((line) => html`<li>${visible(line)}</li>`)}
      ${lines.length > 200 && html`<li class="quiet">and ${number(lines.length - 200)} more</li>`}</ul>
  </details>`;
