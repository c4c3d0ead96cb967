// Spans as a person reads them: links as their text, wrapped lines folded. The exact text stays beside it.
import { call } from "./api.js";

/** Add `shown` to spans of an answer ({ doc_uri, text or quote }), and return the answer. */
export async function withReadable(answer, spans, signal) {
  if (spans.length) {
    const asked = spans.map((span) => ({ uri: span.doc_uri, text: span.text ?? span.quote }));
    const { texts } = await call("readable", { spans: asked }, signal);
    spans.forEach((span, at) => { span.shown = texts[at]; });
  }
  return answer;
}
