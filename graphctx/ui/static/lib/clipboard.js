// The clipboard. Browsers offer it to pages of this machine and over HTTPS; elsewhere the older way is tried.
import { html, useState } from "./html.js";

export async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("The browser does not let this page copy.");
  return undefined;
}

/** A button that copies what `text()` returns, and says so. */
export function CopyButton({ text, children }) {
  const [said, setSaid] = useState("");
  const copy = () => copyText(text()).then(() => setSaid("Copied"), () => setSaid("Not copied"))
    .then(() => setTimeout(() => setSaid(""), 2000));
  return html`<button class="compact" onClick=${copy}>${said || children}<span class="hidden" role="status">${said}</span></button>`;
}
