// A span of a document with the link that opens it in its place.
import { html } from "../lib/html.js";
import { link } from "../lib/router.js";
import { visible } from "../lib/text.js";

export const placeOf = (span) => `${span.doc_uri}${span.page ? `, page ${span.page}` : span.line ? `:${span.line}` : ""}`;

/** Text with the names in it marked. */
export function Marked({ text, names = [] }) {
  const wanted = names.filter((name) => name.length > 1)
    .map((name) => name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&").replace(/\s+/gu, "\\s+"));
  if (!wanted.length) return visible(text);
  const parts = text.split(new RegExp(`((?<![\\p{L}\\p{N}])(?:${wanted.join("|")})(?![\\p{L}\\p{N}]))`, "giu"));
  return parts.map((part, at) => (at % 2 ? html`<mark>${visible(part)}</mark>` : visible(part)));
}

/** A quote, point or snippet: its text, the names to mark in it, and where it stands. */
export function Cited({ span, names, children }) {
  const { doc_uri: uri, start_char: start, end_char: end } = span;
  return html`
    <figure class="cited">
      <blockquote><${Marked} text=${span.shown ?? span.text ?? span.quote} names=${names} />${span.truncated ? " …" : ""}</blockquote>
      <figcaption>
        <a href=${link("documents", { uri, start, end })}>${visible(span.title ?? placeOf(span))}</a>
        ${span.heading ? html` <span>› ${visible(span.heading)}</span>` : ""}
        ${span.title ? html` <span class="code">${visible(placeOf(span))}</span>` : ""}
        ${children}
      </figcaption>
    </figure>`;
}
