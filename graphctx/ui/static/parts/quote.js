// A quote with its citation: readable here, exact in its document and when it is copied.
import { html } from "../lib/html.js";
import { isCode } from "../lib/blocks.js";
import { CopyButton } from "../lib/clipboard.js";
import { placeOf, quoteAsMarkdown } from "../lib/request.js";
import { visible } from "../lib/text.js";

/** Readable text: `code` in it, and lines that are indented as code, are set as code. */
export function Readable({ text }) {
  return visible(text).split(/((?:^ {4}.*(?:\n|$))+)/m).map((part, number) => (number % 2
    ? html`<code class="lines">${part.replace(/^ {4}/gm, "").trimEnd()}</code>`
    : part.split(/(`[^`\n]+`)/).map((one, at) => (at % 2 ? html`<code>${one.slice(1, -1)}</code>` : one))));
}

/**
 * quote: of an answer, with `shown`, its readable text. href: opens it in its document. measure: ["confidence", 0.5].
 * children: more buttons, and what is below them.
 */
export function Quote({ number, quote, href, current, measure, buttons, children }) {
  const [measured, value] = measure;
  return html`
    <article class="quote" data-number=${number} aria-current=${current ? "true" : undefined}
      onClick=${(event) => {
        if (!event.target.closest("a, button, summary, details") && !String(getSelection())) location.hash = href;
      }}>
      <header>
        <a class="open" href=${href}><span class="number">${number}</span> ${visible(placeOf(quote))}</a>
        <span class="measure quiet" title=${`${measured} ${value.toFixed(2)}`}>
          <span aria-hidden="true" class="level"><span style=${{ width: `${Math.round(value * 100)}%` }}></span></span>
          ${measured} ${value.toFixed(2)}
        </span>
      </header>
      <blockquote class=${isCode(quote.doc_uri) ? "code" : ""}><${Readable} text=${quote.shown ?? quote.quote} /></blockquote>
      <footer>
        <span class="code quiet">${visible(quote.doc_uri)}:${quote.line}</span>
        ${quote.page && html`<span class="quiet">page ${quote.page}</span>`}
        ${quote.truncated && html`<span class="quiet" title="The passage goes on; open the document to read on.">shortened</span>`}
        ${quote.layer && html`<span class="tag">layer ${quote.layer.name}</span>`}
        <span class="buttons">${buttons}<${CopyButton} text=${() => quoteAsMarkdown(quote)}>Copy<//></span>
      </footer>
      ${children}
    </article>`;
}
