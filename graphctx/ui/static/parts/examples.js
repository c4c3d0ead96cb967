// Questions to begin with, made from what is published.
import { html } from "../lib/html.js";
import { call, useLoaded } from "../lib/api.js";
import { link } from "../lib/router.js";
import { plural, visible } from "../lib/text.js";

/** Say what is published, and invite to ask. */
export function Examples({ snapshot }) {
  const { value } = useLoaded((signal) => call("examples", {}, signal), [snapshot]);
  if (!value) return null;
  return html`
    <section class="examples" aria-label="To begin with">
      <p class="quiet">${plural(value.documents, "document")} published.${
        value.skipped > 0 && html` <a href=${link("documents", { status: "skipped" })}>${plural(value.skipped, "file was", "files were")} skipped</a>.`}</p>
      ${value.questions.length > 0 && html`
        <h2>Try one of these</h2>
        <ul>${value.questions.map((question) => html`
          <li><a href=${link("ask", { q: question })}>${visible(question)}</a></li>`)}</ul>`}
    </section>`;
}
