// The snapshots of a knowledge base: what changed between two of them, and the way back.
import { html, useState } from "../lib/html.js";
import { call, useLoaded } from "../lib/api.js";
import { Loaded, Problem } from "../lib/parts.js";
import { go } from "../lib/router.js";
import { bytes, number, plural, visible } from "../lib/text.js";
import { Confirm } from "./dialog.js";

const day = (moment) => new Date(moment).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

export function Snapshots({ status, params, reload, running }) {
  const listed = useLoaded((signal) => call("snapshots", {}, signal), [status.snapshot_id]);
  const [asked, setAsked] = useState();
  const [error, setError] = useState();
  const before = params.get("before") ?? "", after = params.get("after") ?? "";
  const compare = (pair) => go("ingest", { before, after, ...pair });
  const rollback = async () => {
    setAsked(undefined);
    setError(undefined);
    try {
      await call("rollback", { snapshot_id: asked.id });
      reload();
      listed.reload();
    } catch (failure) {
      setError(failure);
    }
  };
  return html`
    <section aria-labelledby="snapshots-title">
      <h2 id="snapshots-title">Snapshots</h2>
      ${error && html`<${Problem} error=${error} />`}
      <${Loaded} of=${listed}>
        ${({ snapshots }) => html`
          <ul class="lines snapshots">
            ${snapshots.map((one) => html`
              <li key=${one.id}>
                <span><strong>${one.created_at ? day(one.created_at) : one.id}</strong>
                  ${one.current && html` <span class="badge">published</span>`}<br />
                  <span class="quiet">${one.problem ? html`<span class="wrong">${visible(one.problem)}</span>`
                    : `${plural(one.counts.documents, "document")}, ${plural(one.counts.units, "passage")}, ${bytes(one.size_bytes)} · `}
                    ${!one.problem && html`<span class="code">${one.id}</span>`}</span></span>
                ${!one.current && !one.problem && html`
                  <button onClick=${() => compare({ before: one.id, after: snapshots.find((each) => each.current)?.id })}
                    aria-label=${`What changed since ${day(one.created_at)}`}>What changed since</button>
                  <button disabled=${running} onClick=${() => setAsked(one)} aria-label=${`Go back to ${day(one.created_at)}`}>Go back to it</button>`}
              </li>`)}
          </ul>
          ${before && after && html`
            <div class="card">
              <p class="strip">
                <label>From <${Choice} value=${before} snapshots=${snapshots} onChange=${(id) => compare({ before: id })} /></label>
                <label>to <${Choice} value=${after} snapshots=${snapshots} onChange=${(id) => compare({ after: id })} /></label>
                <button onClick=${() => go("ingest")}>Close</button>
              </p>
              <${Difference} ...${{ before, after }} />
            </div>`}
          ${asked && html`
            <${Confirm} title="Go back to this snapshot?" action="Publish it" onConfirm=${rollback} onCancel=${() => setAsked(undefined)}>
              <p>Answers come from the ${plural(asked.counts.documents, "document")} of ${day(asked.created_at)} then. The
                snapshot of now stays in this list. The next ingest adds to what is published at that time.</p>
            <//>`}`}
      <//>
    </section>`;
}

const Choice = ({ value, snapshots, onChange }) => html`
  <select value=${value} onChange=${(event) => onChange(event.target.value)}>
    ${snapshots.filter((one) => !one.problem).map((one) => html`<option value=${one.id} selected=${one.id === value}>${day(one.created_at)}${one.current && " (published)"}</option>`)}
  </select>`;

function Difference({ before, after }) {
  const found = useLoaded((signal) => call("snapshot_difference", { before, after }, signal), [before, after]);
  return html`<${Loaded} of=${found} what="Comparing">
    ${(kinds) => Object.values(kinds).every(({ total }) => !total)
      ? html`<p role="status">The two have the same documents.</p>`
      : html`
        <p role="status">${Object.entries(kinds).map(([kind, { total }]) => `${number(total)} ${kind}`).join(", ")}</p>
        ${Object.entries(kinds).map(([kind, { total, documents }]) => total > 0 && html`
          <details class="list" open=${total <= 20} key=${kind}>
            <summary>${kind[0].toUpperCase() + kind.slice(1)} (${number(total)})</summary>
            <ul>${documents.map(({ uri, title }) => html`<li>${visible(title)} <span class="quiet code path">${visible(uri)}</span></li>`)}
              ${total > documents.length && html`<li class="quiet">and ${number(total - documents.length)} more</li>`}</ul>
          </details>`)}`}
  <//>`;
}
