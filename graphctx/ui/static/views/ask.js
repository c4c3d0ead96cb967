// A question, and the quotes that answer it.
import { html, useState } from "../lib/html.js";
import { tool, useLoaded } from "../lib/api.js";
import { Empty, Loaded } from "../lib/parts.js";
import { go } from "../lib/router.js";
import { plural, visible } from "../lib/text.js";
import { Examples } from "../parts/examples.js";

function Quote({ quote }) {
  return html`
    <article class="quote">
      <blockquote>${visible(quote.quote)}</blockquote>
      <footer>${quote.title} <span class="quiet">${quote.heading_path ?? ""}</span></footer>
    </article>`;
}

function Answer({ question }) {
  const answer = useLoaded((signal) => tool("kb.retrieve_evidence", { question }, signal), [question]);
  return html`<${Loaded} of=${answer} what="Looking for evidence">
    ${(found) => found.quotes.length
      ? html`<p role="status">${plural(found.quotes.length, "quote")}</p>
          ${found.quotes.map((quote) => html`<${Quote} key=${quote.quote_id} quote=${quote} />`)}`
      : html`<${Empty}>No evidence.<//>`}
  <//>`;
}

export default function Ask({ status, params }) {
  const asked = params.get("q") ?? "";
  const [question, setQuestion] = useState(asked);
  const submit = (event) => {
    event.preventDefault();
    if (question.trim()) go("ask", { q: question.trim() });
  };
  return html`
    <h1>Ask</h1>
    <form class="ask" role="search" onSubmit=${submit}>
      <label class="hidden" for="question">Question</label>
      <input id="question" value=${question} onInput=${(event) => setQuestion(event.target.value)}
        placeholder="Ask your documents" autofocus />
      <button class="primary">Ask</button>
    </form>
    ${asked ? html`<${Answer} question=${asked} />` : html`<${Examples} snapshot=${status.snapshot_id} />`}`;
}
