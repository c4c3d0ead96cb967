// A question, the quotes that answer it, and the document that holds each.
import { html, useEffect, useMemo, useRef, useState } from "../lib/html.js";
import { call, tool, useLoaded } from "../lib/api.js";
import { CopyButton } from "../lib/clipboard.js";
import { Empty, Loaded, Problem } from "../lib/parts.js";
import { withReadable } from "../lib/readable.js";
import { answerAsMarkdown, asCommand, asMcp, MODES, requestOf } from "../lib/request.js";
import { go, link } from "../lib/router.js";
import { number, plural, visible } from "../lib/text.js";
import { Examples } from "../parts/examples.js";
import { Quote } from "../parts/quote.js";
import { Reader } from "../parts/reader.js";
import { Why, WhyPoint } from "../parts/why.js";

const OF_THE_READER = ["doc", "start", "end", "why"];
const NARROW = matchMedia("(max-width: 900px)");
const LOW_RATING = 0.21;
const LAYERS = ["local", "user", "delta", "base"];
const KEYS = [
  ["/", "write a question"], ["j or ↓", "next quote"], ["k or ↑", "quote before"], ["Enter", "open the quote in its document"],
  ["Esc", "close the document"], ["?", "this list"],
];

/** The parameters of the address as an object, with changes; those of the reader go unless they are kept. */
function changed(params, changes, keepReader = false) {
  const fields = {};
  for (const name of new Set(params.keys())) if (keepReader || !OF_THE_READER.includes(name)) fields[name] = params.getAll(name);
  return { ...fields, ...changes };
}

const spanOf = (item) => ({ doc: item.doc_uri, start: item.start_char, end: item.end_char });

async function loadAnswer(request, pages, signal) {
  const { whole, name, input } = request;
  const items = [], budgets = [], themes = new Map();
  let answer, memory;
  for (let page = 0; page < pages && answer?.next_cursor !== null; page += 1) {
    answer = await tool(name, answer ? { ...input, cursor: answer.next_cursor } : input, signal);
    memory ??= answer.memory; // on the first page alone
    items.push(...(whole ? answer.points : answer.quotes));
    for (const theme of answer.themes ?? []) themes.set(theme.id, theme);
    budgets.push(answer.budget);
  }
  await withReadable(answer, items, signal);
  return { request, answer, items, budgets, themes, memory };
}

export default function Ask({ status, params }) {
  const request = requestOf(params);
  const key = JSON.stringify(request);
  const pages = Math.min(Number(params.get("pages")) || 1, 20);
  const asked = request.input.question;
  const found = useLoaded((signal) => (asked ? loadAnswer(request, pages, signal) : Promise.resolve(null)), [key, pages]);
  const help = useRef();
  // Made anew for another request alone: what is being typed stays when an answer arrives.
  const form = useMemo(() => html`<${Form} key=${asked} ...${{ params, request, status }} />`, [key, status]);
  return html`
    <div class="ask-head">
      <h1>Ask</h1>
      <button class="plain" onClick=${() => help.current.showModal()} aria-label="Keys" title="Keys (?)">?</button>
    </div>
    ${form}
    ${asked
      ? html`<${Loaded} of=${found} what="Looking for evidence">
          ${(value) => value && html`<${Answer} ...${{ found: value, loading: found.loading, params, status }} />`}
        <//>`
      : html`<${Start} status=${status} />`}
    <dialog ref=${help} class="keys" aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl>${KEYS.map(([keys, what]) => html`<dt><kbd>${keys}</kbd></dt><dd>${what}</dd>`)}</dl>
      <form method="dialog"><button class="primary">Close</button></form>
    </dialog>
    <${Keyboard} help=${help} ...${{ params }} />`;
}

/** The keys of the view: quotes are walked in the order of the page. */
function Keyboard({ help, params }) {
  useEffect(() => {
    const pressed = (event) => {
      const { target, key } = event;
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest?.("input, textarea, select, dialog")) return;
      const links = [...document.querySelectorAll(".quote .open")];
      const within = target.closest?.(".reader") === null || target.closest?.(".reader") === undefined;
      const step = { j: 1, k: -1, ...(within && { ArrowDown: 1, ArrowUp: -1 }) }[key];
      if (key === "?") help.current.showModal();
      else if (key === "/") document.getElementById("question").focus();
      else if (step && links.length) {
        const at = links.findIndex((one) => one === document.activeElement || (one.closest("[aria-current]") && !document.activeElement.matches(".open")));
        const next = links[Math.min(Math.max(at + step, 0), links.length - 1)];
        next.focus();
        if (params.get("doc") && next.hash.startsWith("#/ask")) location.replace(next.href);
      } else return;
      event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [params]);
  return null;
}

/** The tags and folders that the fields offer, loaded when their fold is opened. */
function Offered() {
  const lists = useRef();
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const fold = lists.current.closest("details");
    const toggled = () => setOpen(fold.open);
    fold.addEventListener("toggle", toggled);
    return () => fold.removeEventListener("toggle", toggled);
  }, []);
  const { value } = useLoaded((signal) => (open ? call("filters", {}, signal) : Promise.resolve()), [open]);
  const options = (found) => found?.map((one) => html`<option value=${one.name}>${plural(one.documents, "document")}</option>`);
  return html`<div hidden ref=${lists}><datalist id="tags">${options(value?.tags)}</datalist><datalist id="folders">${options(value?.folders)}</datalist></div>`;
}

function Form({ params, request, status }) {
  const { whole } = request;
  const ask = (form, changes = {}) => {
    const data = new FormData(form);
    const values = Object.fromEntries([...new Set(data.keys())].map((name) => [name, data.getAll(name)]));
    const tags = (values.tag ?? []).flatMap((tag) => tag.split(",")).map((tag) => tag.trim());
    const q = (values.q?.[0] ?? "").trim();
    for (const name of ["memory", "layer"]) if (form.elements[name]) values[name] ??= ""; // none is checked
    const { mode, ...others } = { ...changed(params, {}), ...values, pages: "" };
    if (q) go("ask", { ...others, q, tag: [...new Set(tags)], mode: [mode].flat()[0] === "auto" ? "" : mode, ...changes });
  };
  const submit = (event) => {
    event.preventDefault();
    ask(event.target);
  };
  const set = ["mode", "tag", "path", "after", "quotes", "passages", "points", "tokens", "memory", "layer"].filter((name) => params.get(name));
  const field = (name, label, max, fallback) => html`
    <label>${label} <input type="number" name=${name} min="1" max=${max} value=${params.get(name) ?? ""} placeholder=${fallback} /></label>`;
  return html`
    <form class="asking" role="search" onSubmit=${submit}>
      <div class="ask">
        <label class="hidden" for="question">Question</label>
        <input id="question" name="q" value=${params.get("q") ?? ""} placeholder="Ask your documents" maxlength="4000" autocomplete="off" autofocus />
        <button class="primary">Ask</button>
      </div>
      <div class="choices">
        <fieldset class="segments">
          <legend class="hidden">What the question is about</legend>
          ${[["", "A detail"], ["whole", "The whole"]].map(([value, title]) => html`
            <label><input type="radio" name="about" value=${value} checked=${whole === (value === "whole")}
              onChange=${(event) => ask(event.target.form)} /><span>${title}</span></label>`)}
        </fieldset>
        <details>
          <summary>Filters and limits${set.length > 0 && html` <span class="tag">${set.length} set</span>`}</summary>
          <div class="fields">
            <label>Tags <input name="tag" list="tags" value=${params.getAll("tag").join(", ")} placeholder="all" /></label>
            <label>Folder <input name="path" list="folders" value=${params.get("path") ?? ""} placeholder="all" /></label>
            <label>Updated after <input type="date" name="after" value=${params.get("after") ?? ""} /></label>
            ${!whole && html`<label>Search by <select name="mode" value=${params.get("mode") ?? "auto"}>${
              Object.entries(MODES).map(([value, title]) => html`<option value=${value}>${title}</option>`)}</select></label>`}
            ${whole ? field("points", "Points", 100, 40) : [field("quotes", "Quotes", 20, 6), field("passages", "Passages", 50, 5)]}
            ${field("tokens", "Tokens of the response", status.limits.max_tokens, status.limits.max_tokens)}
            ${!whole && (status.serves.memory || status.serves.layers) && html`
              <fieldset class="beside-documents">
                <legend>Beside the documents</legend>
                ${status.serves.memory && html`<label><input type="checkbox" name="memory" value="1" checked=${params.get("memory") === "1"} /> Memory</label>`}
                ${status.serves.layers && LAYERS.map((layer) => html`
                  <label><input type="checkbox" name="layer" value=${layer} checked=${params.getAll("layer").includes(layer)} /> Layer ${layer}</label>`)}
              </fieldset>`}
            <${Offered} />
            <p class="buttons"><button>Apply</button> ${set.length > 0 && html`
              <a href=${link("ask", { q: params.get("q"), about: params.get("about") })}>Reset</a>`}</p>
          </div>
        </details>
      </div>
    </form>`;
}

function Start({ status }) {
  return html`
    <${Empty}>
      <p>Ask in a whole sentence. Answers are quotes, word for word, each with its place in its document.</p>
      <${Examples} snapshot=${status.snapshot_id} />
      <p><a href=${link("ask", { q: "What are the main themes?", about: "whole" })}>What are the main themes?</a></p>
    <//>`;
}

function useNarrow() {
  const [narrow, setNarrow] = useState(NARROW.matches);
  useEffect(() => {
    const listen = () => setNarrow(NARROW.matches);
    NARROW.addEventListener("change", listen);
    return () => NARROW.removeEventListener("change", listen);
  }, []);
  return narrow;
}

function Answer({ found, loading, params, status }) {
  const { request, answer, items, themes, memory } = found; // of the question before, while the next one loads
  const narrow = useNarrow();
  const doc = params.get("doc");
  const start = Number(params.get("start")), end = Number(params.get("end"));
  const why = params.get("why");
  const explanation = useLoaded(
    (signal) => (why && !request.whole ? call("explain", request.input, signal) : Promise.resolve(null)), [Boolean(why), JSON.stringify(request)]);
  const isOpen = (item) => item.doc_uri === doc && item.start_char === start && item.end_char === end;
  const marks = useMemo(() => [
    ...items.filter((item) => item.doc_uri === doc && !isOpen(item)).map((item) => ({ start: item.start_char, end: item.end_char })),
    ...(end > start ? [{ start, end, strong: true }] : []),
  ], [items, doc, start, end]);
  const reader = doc && html`<${Reader} uri=${doc} marks=${marks} at=${start}
    onClose=${() => {
      const current = document.querySelector(".quote[aria-current] .open");
      go("ask", changed(params, {}));
      current?.focus();
    }}
    actions=${html`<a href=${link("documents", { uri: doc, start, end })}>Open alone</a>`} />`;
  const opened = items.some(isOpen);
  const card = (item, at) => html`
    <li key=${`${item.doc_uri}:${item.start_char}`}>
      <${Quote} number=${at + 1} quote=${item} current=${isOpen(item)}
        href=${item.layer ? link("layers", { layer: item.layer.name, id: item.layer.chunk_id }) : link("ask", changed(params, spanOf(item)))}
        measure=${request.whole ? ["rating", item.rating] : ["confidence", item.confidence]}
        buttons=${!item.layer && html`<button class="compact" aria-expanded=${why === String(at + 1)}
          onClick=${() => go("ask", changed(params, { ...Object.fromEntries(OF_THE_READER.map((name) => [name, params.get(name)])), why: why === String(at + 1) ? "" : at + 1 }), true)}>Why this</button>`}>
        ${why === String(at + 1) && (request.whole ? html`<${WhyPoint} point=${item} answer=${answer} />` : html`<${Loaded} of=${explanation} what="Looking at how it was found">
          ${(value) => value && html`<${Why} explanation=${value} quote=${item}
            open=${(unit) => link("ask", changed(params, { doc: unit.doc_uri, start: unit.start_char, end: unit.end_char, why }))} />`}
        <//>`)}
      <//>
      ${narrow && isOpen(item) && reader}
    </li>`;
  return html`
    <div class=${`answer ${doc && !narrow ? "split" : ""}`} aria-busy=${loading}>
      <div class="found">
        <${Verdict} ...${{ found, request, params }} />
        ${narrow && doc && !opened && reader}
        ${request.whole && items.length
          ? html`<${Themes} ...${{ answer, items, themes, card }} />`
          : html`<ol class="quotes">${items.map(card)}</ol>`}
        ${memory && html`<${Remembered} memory=${memory} />`}
        <${Limits} ...${{ found, request, params }} />
        ${items.length > 0 && html`<p class="buttons">
          <${CopyButton} text=${() => answerAsMarkdown(request.input.question, items)}>Copy all as Markdown<//>
          <a href=${link("graph", { q: request.input.question })}>Names as a graph</a></p>`}
        <${Elsewhere} ...${{ request, status }} />
      </div>
      ${doc && !narrow && html`<div class="opened">${reader}</div>`}
    </div>`;
}

const EMPTY = {
  empty_knowledge_base: "The documents of this knowledge base hold no text to quote.",
  nothing_in_scope: "No document is within the boundary of this knowledge base.",
  filtered_out: "No document passes the filters.",
  no_communities: "The documents are too few for themes. Ask about a detail.",
  no_match: "Nothing in the documents matches the question.",
  no_evidence: "Nothing in the documents bears on the question.",
};

/** Whether the question is answered, and how it was read. */
function Verdict({ found: { answer, items }, request, params }) {
  const near = request.whole ? items.every((item) => item.rating < LOW_RATING) : answer.answered === "near";
  const [look, said] = !items.length ? ["wrong", EMPTY[answer.empty_reason] ?? "No evidence."]
    : near ? ["near", request.whole ? "None of these points fits the question well: the documents may not cover it."
      : "Only near matches: none of these fits the question well, the documents may not hold the answer."]
    : ["right", request.whole ? `${plural(items.length, "point")} of ${plural(new Set(items.map((one) => one.doc_uri)).size, "document")}.`
      : `Answered. ${plural(items.length, "quote")}, word for word.`];
  const words = Object.entries(answer.read_as ?? {});
  return html`
    <div class="verdict" role="status">
      <p class=${look}><strong>${look === "right" ? "✓" : look === "near" ? "≈" : "✗"} ${said}</strong></p>
      ${words.length > 0 && html`<p>${words.map(([typed, read], at) => html`${at > 0 && ", "}<q>${visible(typed)}</q> was read as <q>${visible(read)}</q>`)}.</p>`}
      ${answer.unknown_words?.length > 0 && html`<p>No document holds ${answer.unknown_words.map((word, at) => html`${at > 0 && ", "}<q>${visible(word)}</q>`)}.</p>`}
      ${answer.empty_reason === "filtered_out" && html`<p><a href=${link("ask", { q: params.get("q"), about: params.get("about") })}>Ask without filters</a></p>`}
      ${["no_match", "no_evidence"].includes(answer.empty_reason) && html`<p class="quiet">Try the words that the documents would use.</p>`}
      ${answer.nearest?.length > 0 && html`<p>The nearest documents: ${answer.nearest.map((uri, at) => html`${at > 0 && ", "}
        <a href=${link("ask", changed(params, { doc: uri, start: 0, end: 0 }))}>${visible(uri)}</a>`)}.</p>`}
      ${answer.layer_notes?.map((note) => html`<p class="quiet">${visible(note)}</p>`)}
      ${answer.note && html`<p class="quiet">${answer.note}</p>`}
    </div>`;
}

function Themes({ answer, items, themes, card }) {
  const groups = new Map();
  items.forEach((item, at) => groups.set(item.community_id, [...(groups.get(item.community_id) ?? []), card(item, at)]));
  return html`
    ${answer.phrased?.length > 0 && html`<div class="card"><p>${answer.phrased.map((sentence) => html`${visible(sentence.text)} ${
      sentence.points.map((point) => html`<sup>[${point}]</sup>`)} `)}</p><p class="quiet">In a language model's words; the numbers are of the points below.</p></div>`}
    ${[...groups].map(([id, cards]) => {
      const theme = themes.get(id);
      return html`
        <section class="theme">
          <h2>${theme ? html`<a href=${link("themes", { id })}>${visible(theme.title)}</a>` : "In no one theme"}</h2>
          ${theme?.names?.length > 0 && html`<p class="quiet">${theme.names.map(visible).join(", ")}</p>`}
          <ol class="quotes">${cards}</ol>
        </section>`;
    })}`;
}

/** What people and agents stored that bears on the question. */
function Remembered({ memory: { block, ids, truncated, degraded } }) {
  const entries = block ? block.split(/\n(?! {2})/) : [];
  return html`
    <section class="remembered" aria-labelledby="remembered">
      <h2 id="remembered">Remembered</h2>
      <p class="quiet">${entries.length ? "From no document: what people and agents have stored." : "Nothing is remembered about this."}${
        truncated && " There is more in the memory."}${degraded && ` ${degraded}`}</p>
      <ul>${entries.map((entry, at) => html`
        <li><span class="text">${visible(entry)}</span> <a href=${ids[at]?.startsWith("m_") ? link("memory", { id: ids[at] }) : link("memory", { tab: "facts" })}>Details</a></li>`)}</ul>
    </section>`;
}

/** What was cut, how much of the budget is used, and the way to more. */
function Limits({ found: { answer, items, budgets }, request, params }) {
  if (!items.length) return null;
  const tokens = budgets.reduce((sum, one) => sum + one.tokens, 0);
  const limit = budgets.reduce((sum, one) => sum + one.max_tokens, 0);
  const more = (changes, text) => html`<a class="button" href=${link("ask", changed(params, changes, true))}>${text}</a>`;
  const { limit_reason: reason, next_cursor: cursor } = answer;
  const quotes = Number(params.get("quotes")) || 6, passages = Number(params.get("passages")) || 5;
  const shortened = items.filter((item) => item.truncated).length;
  return html`
    <div class="limits">
      <p><meter min="0" max=${limit} value=${tokens} aria-label="Tokens of the response"></meter>
        <span>${number(tokens)} of ${number(limit)} tokens${budgets.length > 1 && `, in ${budgets.length} responses`}</span></p>
      ${shortened > 0 && html`<p class="quiet">${plural(shortened, "quote is", "quotes are")} shortened; the document has the rest.</p>`}
      ${cursor ? html`<p>${reason === "token_cap" || reason === "byte_cap" ? "More was found than fits the limit of one response. " : "More was found. "}
          ${more({ pages: (Number(params.get("pages")) || 1) + 1 }, "Show more")}</p>`
        : reason === "passage_cap" && passages < 50 ? html`<p>The passages hold no further quote. ${
          more({ quotes: Math.min(quotes + 6, 20), passages: Math.min(passages * 2, 50) }, "Quote from more passages")}</p>`
        : !request.whole && items.length >= quotes && quotes < 20 ? html`<p>${
          more({ quotes: Math.min(quotes * 2, 20), passages: Math.min(passages * 2, 50) }, "Ask for more quotes")}</p>`
        : reason === "token_cap" || reason === "byte_cap" ? html`<p class="quiet">Some text is cut at the limit of the response.</p>` : null}
    </div>`;
}

/** The same call as an MCP request and as a command. */
function Elsewhere({ request, status }) {
  const command = asCommand(request, status.kb);
  return html`
    <details class="elsewhere">
      <summary>The same question elsewhere</summary>
      <h3>On the command line</h3>
      <pre tabindex="0" aria-label="Command">${command}</pre>
      <p class="buttons"><${CopyButton} text=${() => command}>Copy the command<//>
        ${(request.input.options?.include_memory || request.input.options?.layers) && html`
          <span class="quiet">It reads the memory and the layers of the knowledge base's settings.</span>`}</p>
      <h3>As an MCP request</h3>
      <pre tabindex="0" aria-label="MCP request">${asMcp(request)}</pre>
      <p class="buttons"><${CopyButton} text=${() => asMcp(request)}>Copy the request<//></p>
    </details>`;
}
