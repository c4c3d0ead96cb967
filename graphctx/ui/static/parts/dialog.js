// Questions that stop everything else until they are answered.
import { html, useEffect, useRef, useState } from "../lib/html.js";
import { call } from "../lib/api.js";
import { Problem } from "../lib/parts.js";
import { number, plural, visible } from "../lib/text.js";

/** Ask for confirmation: `action` names what the button does. Esc and "Keep" call `onCancel`. */
export function Confirm({ title, action, onConfirm, onCancel, children }) {
  const dialog = useRef();
  useEffect(() => {
    dialog.current.showModal();
  }, []);
  return html`
    <dialog ref=${dialog} aria-labelledby="confirm-title" onCancel=${(event) => { event.preventDefault(); onCancel(); }}>
      <h2 id="confirm-title">${title}</h2>
      ${children}
      <footer>
        <button onClick=${onCancel}>Keep everything as it is</button>
        <button class="danger" onClick=${onConfirm}>${action}</button>
      </footer>
    </dialog>`;
}

/** Ask whether to remove documents, and begin it: `onBegun` is called when the server has. */
export function RemoveDocuments({ uris, onBegun, onCancel }) {
  const [error, setError] = useState();
  const remove = () => call("remove", { documents: uris }).then(onBegun, setError);
  const one = uris.length === 1;
  return html`
    <${Confirm} title=${`Remove ${plural(uris.length, "document")}?`} action=${`Remove ${plural(uris.length, "document")}`}
      onConfirm=${remove} onCancel=${onCancel}>
      <p>${one ? "It is" : "They are"} gone from every answer and ${one ? "stays" : "stay"} out of later ingests. Files in
        your own folders are not touched; copies that were uploaded are deleted.</p>
      <ul>${uris.slice(0, 10).map((uri) => html`<li class="code">${visible(uri)}</li>`)}
        ${uris.length > 10 && html`<li class="quiet">and ${number(uris.length - 10)} more</li>`}</ul>
      ${error && html`<${Problem} error=${error} />`}
    <//>`;
}
