// Small components that every view uses.
import { html } from "./html.js";

export const Loading = ({ what = "Loading" }) => html`<p class="quiet" role="status">${what}…</p>`;

export const Problem = ({ error, retry }) => html`
  <div class="problem" role="alert">
    <p>${error.message}</p>
    ${retry && html`<button onClick=${retry}>Try again</button>`}
  </div>`;

/** Show a loaded value: <${Loaded} of=${useLoaded(...)}>${(value) => ...}<//> */
export function Loaded({ of, what, children }) {
  const [show] = [children].flat();
  if (of.error) return html`<${Problem} error=${of.error} retry=${of.reload} />`;
  if (of.value === undefined) return html`<${Loading} what=${what} />`;
  return show(of.value);
}

export const Empty = ({ children }) => html`<div class="empty">${children}</div>`;
