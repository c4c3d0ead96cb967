// What the address of Ask asks for: as arguments of a tool, as an MCP request, as a command; and answers as Markdown.

export const MODES = { auto: "Automatic", hybrid_local: "Words, meaning and graph", vector_only: "Meaning alone" };

/** Return { whole, name, input } of the parameters of the address. */
export function requestOf(params) {
  const whole = params.get("about") === "whole";
  const numbers = whole ? { max_points: "points" } : { max_quotes: "quotes", top_k: "passages" };
  const filters = clean({
    doc_tag: params.getAll("tag"), path_prefix: params.get("path"), updated_after: params.get("after"),
  });
  const input = clean({
    question: params.get("q"),
    ...Object.fromEntries(Object.entries({ ...numbers, max_tokens: "tokens" }).map(([field, name]) => [field, Number(params.get(name))])),
    filters,
    options: whole ? {} : clean({
      mode: params.get("mode"), include_memory: params.get("memory") === "1", layers: params.getAll("layer"),
    }),
  });
  return { whole, name: whole ? "kb.global_search" : "kb.retrieve_evidence", input };
}

const isEmpty = (value) => !value || (typeof value === "object" && !Object.keys(value).length);
const clean = (fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));

export const asMcp = ({ name, input }) => JSON.stringify({
  jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: name.replace(".", "_"), arguments: input },
}, null, 2);

const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** Return the command line for a POSIX shell: `ask`, or `call` with what `ask` has no option for. */
export function asCommand({ whole, name, input }, kb) {
  const { filters = {}, options = {} } = input;
  if (input.max_tokens || options.include_memory || options.layers) {
    return ["graphctx", "call", ...(kb ? ["--kb", kb] : []), name, JSON.stringify(input)].map(quoted).join(" ");
  }
  const values = [
    ["--kb", kb], ["--max-quotes", input.max_quotes], ["--top-k", input.top_k], ["--max-points", input.max_points],
    ["--mode", options.mode], ...(filters.doc_tag ?? []).map((tag) => ["--tag", tag]),
    ["--path-prefix", filters.path_prefix], ["--updated-after", filters.updated_after],
  ];
  const given = values.filter(([, value]) => value).flatMap(([name, value]) => (
    String(value).startsWith("-") ? [`${name}=${value}`] : [name, String(value)]));
  const question = input.question.startsWith("-") ? ["--", input.question] : [input.question];
  return ["graphctx", "ask", ...(whole ? ["--global"] : []), ...given, ...question].map(quoted).join(" ");
}

const escaped = (text) => text.replace(/[\\`*_[\]<>|#]/g, "\\$&").replace(/\s+/g, " ");

/** The place of a quote in words: title, heading, line or page. */
export const placeOf = (quote) => [quote.title, quote.heading].filter(Boolean).join(" › ");

/** Return a quote, character for character, with its citation. */
export function quoteAsMarkdown(quote) {
  const at = quote.page ? `page ${quote.page}` : `line ${quote.line}`;
  const lines = quote.quote.split("\n").map((line) => (line ? `> ${line}` : ">"));
  return `${lines.join("\n")}\n>\n> — ${escaped(placeOf(quote))}, ${escaped(quote.doc_uri)}, ${at} `
    + `(characters ${quote.start_char}–${quote.end_char})\n`;
}

export const answerAsMarkdown = (question, quotes) => `## ${escaped(question)}\n\n${quotes.map(quoteAsMarkdown).join("\n")}`;
