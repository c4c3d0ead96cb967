// Controls that several views share: tabs, confirmation, a meter, times.
import { html, useEffect, useRef, useState } from "./html.js";
import { link } from "./router.js";
import { number } from "./text.js";

/** Tabs as links: <${Tabs} view="memory" tabs=${[["", "Stored"], ["facts", "Facts"]]} open=${tab} keep=${{ session }} />. */
export const Tabs = ({ view, label, tabs, open, keep = {} }) => html`
  <nav class="tabs" aria-label=${label}>
    ${tabs.map(([tab, title]) => html`
      <a href=${link(view, { tab, ...keep })} aria-current=${tab === open ? "page" : undefined}>${title}</a>`)}
  </nav>`;

/** A moment to the minute, in UTC. */
export const when = (iso) => (iso ? html`<time datetime=${iso} title=${iso}>${iso.slice(0, 16).replace("T", " ")}</time>` : "");
export const day = (iso) => (iso ? html`<time datetime=${iso} title=${iso}>${iso.slice(0, 10)}</time>` : "");

/** How much of a limit is used, in words and as a bar. */
export const Meter = ({ label, used, limit, unit }) => html`
  <div class="meter">
    <span>${label}</span>
    <span class="quiet">${number(used)} of ${number(limit)} ${unit}</span>
    <span class="bar" aria-hidden="true">
      <span class=${used > limit ? "over" : ""} style=${{ width: `${Math.min(100, limit ? (100 * used) / limit : 100)}%` }}></span>
    </span>
  </div>`;

/**
 * A question in place, with its answers as buttons: actions are [{ title, run, danger }]; `run` may return a promise.
 * It takes the focus, and Escape closes it.
 */
export function Confirm({ text, actions, onClose, children }) {
  const box = useRef();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState();
  useEffect(() => {
    (box.current.querySelector("textarea, input") ?? box.current.querySelector("button.cancel")).focus();
  }, []);
  const run = async (action) => {
    setBusy(true);
    setError(undefined);
    try {
      await action.run();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return html`
    <div class="confirm" role="group" aria-label=${text} ref=${box}
      onKeyDown=${(event) => event.key === "Escape" && onClose()}>
      <p>${text}</p>
      ${children}
      ${error && html`<p class="wrong" role="alert">${error.message}</p>`}
      <div class="actions">
        ${actions.map((action) => html`
          <button class=${action.danger ? "danger" : "primary"} disabled=${busy} onClick=${() => run(action)}>${action.title}</button>`)}
        <button class="cancel" disabled=${busy} onClick=${onClose}>Cancel</button>
      </div>
    </div>`;
}

/** What may be wider than the page scrolls by itself, by keys too. */
export const Wide = ({ label, children }) => html`<div class="wide" role="group" tabindex="0" aria-label=${label}>${children}</div>`;
