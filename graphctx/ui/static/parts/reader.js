// A document with spans marked: its text by windows, its outline, and the names in it beside the text.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../lib/html.js";
import { call, useLoaded } from "../lib/api.js";
import { blocksOf, looksOf, pieces } from "../lib/blocks.js";
import { Loaded, Problem } from "../lib/parts.js";
import { link } from "../lib/router.js";
import { plural, utf16Offsets, visible } from "../lib/text.js";

const WINDOW = 30_000; // characters that are loaded at a time
const LEAD = 6_000; // characters before the place that is shown
const KEPT = 6; // windows that are kept
const NAMES = 5; // names beside a block
const WIDE = 820; // pixels from which outline and names stand beside the text

/**
 * Show a document.
 *
 * uri: its URI or id. marks: [{ start, end, strong }] in characters; a strong one is scrolled to. at: the character to
 * show first, by default the first strong mark. onClose: called by the button and Esc; without it there is no button.
 * actions: more links for its head.
 */
export function Reader({ uri, marks = [], at, onClose, actions }) {
  const target = at ?? marks.find((mark) => mark.strong)?.start ?? marks[0]?.start ?? 0;
  const first = useLoaded(
    (signal) => loadWindow(uri, Math.max(0, target - LEAD), true, signal), [uri]);
  useEffect(() => {
    if (!onClose) return undefined;
    const pressed = (event) => {
      if (event.key === "Escape" && !event.defaultPrevented && !event.target.closest?.("input, textarea, select, dialog")) onClose();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [onClose]);
  const shown = first.value?.asked === uri ? first : { ...first, value: undefined };
  return html`
    <section class="reader" aria-label=${`Document ${first.value?.title ?? uri}`}>
      ${onClose && html`<button class="plain close" onClick=${onClose} aria-label="Close the document" title="Close (Esc)">✕</button>`}
      <${Loaded} of=${shown} what="Opening the document">
        ${(document) => html`<${Pages} key=${document.asked} ...${{ document, marks, target, actions }} />`}
      <//>
    </section>`;
}

async function loadWindow(uri, start, outline, signal) {
  const found = await call("document", { uri, start, end: start + WINDOW, outline }, signal);
  return { ...found, asked: uri };
}

function Pages({ document, marks, target, actions }) {
  const [windows, setWindows] = useState([document]);
  const [error, setError] = useState();
  const [place, setPlace] = useState({ heading: undefined, page: undefined });
  const [goal, setGoal] = useState(target);
  const [wide, setWide] = useState(); // not known before the first layout
  const box = useRef(), root = useRef(), loading = useRef(false), kept = useRef();
  const { outline, page_starts: pages } = document;
  const start = windows[0].start, end = windows.at(-1).end;
  const markKey = JSON.stringify(marks);

  const load = async (from, change) => {
    if (loading.current) return;
    loading.current = true;
    try {
      const more = await loadWindow(document.uri, from, false);
      setError(undefined);
      setWindows((before) => change(before, more));
    } catch (problem) {
      setError(problem);
    } finally {
      loading.current = false;
    }
  };
  // What is dropped or added above must not move what is read: a window that stays is kept where it is.
  const keep = (key) => {
    const element = box.current?.querySelector(`[data-window="${key}"]`);
    kept.current = element && { key, top: element.offsetTop };
  };
  const later = () => end < document.length && load(end, (before, more) => {
    keep(before.at(-1).start);
    return [...before, more].slice(-KEPT);
  });
  const earlier = () => start > 0 && load(Math.max(0, start - WINDOW), (before, more) => {
    keep(before[0].start);
    return [trimmed(more, before[0].start), ...before].slice(0, KEPT);
  });
  const show = (offset) => {
    if (offset < start || offset > end) load(Math.max(0, offset - LEAD), (_, more) => [more]);
    setGoal(offset);
  };
  useEffect(() => show(target), [target, markKey]);

  useLayoutEffect(() => {
    if (!kept.current) return;
    const element = box.current.querySelector(`[data-window="${kept.current.key}"]`);
    if (element) box.current.scrollTop += element.offsetTop - kept.current.top;
    kept.current = undefined;
  }, [windows]);
  useLayoutEffect(() => {
    if (goal === undefined || wide === undefined || goal < start || goal > end) return;
    scrollTo(box.current, goal);
    setGoal(undefined);
  }, [goal, windows, wide]);
  useEffect(() => {
    let before;
    const observer = new ResizeObserver(([entry]) => {
      const now = entry.contentRect.width >= WIDE;
      if (before === !now && box.current) setGoal(firstShown(box.current)); // what is read stays in view
      setWide(before = now);
    });
    observer.observe(root.current);
    return () => observer.disconnect();
  }, []);
  const scrolled = () => {
    const element = box.current;
    if (!element) return;
    if (element.scrollTop < 600) earlier();
    if (element.scrollHeight - element.scrollTop - element.clientHeight < 1200) later();
    const offset = firstShown(element);
    setPlace({ heading: lastBefore(outline, offset, (one) => one.start), page: lastBefore(pages, offset, (one) => one) });
  };
  useEffect(scrolled, [windows]);

  const heads = useMemo(() => new Map(outline.map((one) => [one.start, one.level])), [document]);
  const names = windows.flatMap((one) => one.entities);
  const heading = outline[place.heading];
  const headings = html`
    <ol>${outline.map((one, number) => html`
      <li class=${`level-${Math.min(one.level, 5)}`}>
        <a href="" aria-current=${number === place.heading ? "location" : undefined}
          onClick=${(event) => { event.preventDefault(); show(one.start); }}>${visible(one.title)}</a>
      </li>`)}
      ${document.n_headings > outline.length && html`<li class="quiet">${plural(document.n_headings - outline.length, "further heading")}</li>`}
    </ol>`;
  return html`
    <div class=${`pages ${wide ? "wide" : ""}`} ref=${root}>
      <header>
        <h2>${visible(document.title)}</h2>
        <p class="quiet"><span class="code">${visible(document.uri)}</span>${document.updated_at && ` · ${document.updated_at.slice(0, 10)}`}${
          document.tags.map((tag) => html` <span class="tag">${visible(tag)}</span>`)} ${actions}</p>
        ${!wide && html`
          <div class="folds">
            ${outline.length > 1 && html`<details><summary>Outline</summary><nav aria-label="Outline">${headings}</nav></details>`}
            ${names.length > 0 && html`<details><summary>Names here</summary><p class="names">${names.slice(0, 60).map(Name)}</p></details>`}
          </div>`}
        <p class="place quiet">${heading ? visible(heading.title) : "\u00a0"}${place.page !== undefined && ` · page ${place.page + 1}`}</p>
      </header>
      ${wide && html`<nav class="outline" aria-label="Outline">${outline.length > 1 && headings}</nav>`}
      <div class="scroll" ref=${box} onScroll=${scrolled} tabindex="0" role="region" aria-label="Text of the document">
        ${start > 0 && html`<button class="more" onClick=${earlier}>Earlier text</button>`}
        ${windows.map((one) => html`
          <${Window} key=${one.start} data=${one} uri=${document.uri} ...${{ marks, markKey, heads, pages, wide }} />`)}
        ${error && html`<${Problem} error=${error} />`}
        ${end < document.length && html`<button class="more" onClick=${later}>Later text</button>`}
        ${document.length === 0 && html`<p class="empty">The document has no text.</p>`}
      </div>
    </div>`;
}

/** The blocks of one window; made anew only if it, the marks or the width change. */
function Window({ data, uri, marks, markKey, heads, pages, wide }) {
  return useMemo(() => {
    const { text, start, end, entities } = data;
    const unit = utf16Offsets(text);
    const local = (offset) => unit(Math.min(Math.max(offset - start, 0), end - start));
    const headings = new Map();
    for (const [offset, level] of heads) if (offset >= start && offset < end) headings.set(local(offset), level);
    const spans = marks.filter((mark) => mark.start < end && mark.end > start)
      .map((mark) => ({ start: local(mark.start), end: local(mark.end), strong: mark.strong, mark: true }));
    const breaks = pages.map((offset, number) => ({ offset, number: number + 1 }))
      .filter(({ offset, number }) => number > 1 && offset >= start && offset < end)
      .map(({ offset, number }) => ({ at: local(offset), number }));
    const places = entities.map((one) => ({ ...one, at: local(one.start) }));
    const back = utf16ToCharacters(text, start);
    const blocks = blocksOf(text, uri, headings);
    return html`<div data-window=${start}>${blocks.map((block) => {
      const looks = looksOf(text.slice(block.start, block.end), uri, block.kind)
        .map((one) => ({ ...one, start: one.start + block.start, end: one.end + block.start }));
      const inner = breaks.filter(({ at }) => at >= block.start && at < block.end);
      const cuts = inner.map(({ at, number }) => ({ start: at, end: at + 1, page: number }));
      const parts = pieces(block.start, block.end, [...spans, ...looks, ...cuts]).map((piece) => Piece(piece, text));
      const named = wide ? places.filter((one) => one.at >= block.start && one.at < block.end) : [];
      const heading = block.kind === "heading" ? { role: "heading", "aria-level": Math.min(block.level + 2, 6) } : {};
      return html`
        <div class="row"><div class=${`block ${block.kind} h${block.level ?? 0} ${block.gap ? "gap" : ""} ${block.item ? "item" : ""}`}
          style=${block.indent ? { marginLeft: `${Math.min(block.indent, 20) * 0.5}em` } : undefined}
          data-at=${back(block.start)} ...${heading}>${parts}</div>${
          named.length > 0 && html`<div class="margin" role="group" aria-label="Names">${named.slice(0, NAMES).map(Name)}</div>`}</div>`;
    })}</div>`;
  }, [data, markKey, wide]);
}

function Piece({ start, end, spans }, text) {
  const shown = visible(text.slice(start, end));
  const marks = spans.filter((span) => span.mark);
  const page = spans.find((span) => span.page && span.start === start)?.page;
  const looks = spans.filter((span) => span.look).map((span) => span.look).join(" ");
  const said = page ? { "data-page": `Page ${page}` } : {};
  if (marks.length) return html`<mark class=${`${marks.some((mark) => mark.strong) ? "strong" : "light"} ${looks}`} ...${said}>${shown}</mark>`;
  return looks || page ? html`<span class=${looks} ...${said}>${shown}</span>` : shown;
}

const Name = (one) => html`
  <a class="name" key=${one.id} href=${link("graph", { id: one.id })} title=${`${one.label}, in ${plural(one.n_units, "passage")}`}>${visible(one.name)}</a>`;

/** A window whose end is another's beginning. */
function trimmed(window, end) {
  if (window.end <= end) return window;
  const cut = utf16Offsets(window.text)(end - window.start);
  return { ...window, end, text: window.text.slice(0, cut), entities: window.entities.filter((one) => one.start < end) };
}

function utf16ToCharacters(text, start) {
  if (!/[\ud800-\udbff]/.test(text)) return (offset) => start + offset;
  let characters = 0, at = 0;
  return (offset) => { // asked for in order
    for (; at < offset; characters += 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
    return start + characters;
  };
}

/** The place of the last of some sorted things that begins at or before an offset, or undefined. */
function lastBefore(things, offset, startOf) {
  let low = 0, high = things.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (startOf(things[middle]) <= offset) low = middle + 1; else high = middle;
  }
  return low > 0 ? low - 1 : undefined;
}

function firstShown(box) {
  const top = box.scrollTop + 40;
  const blocks = box.querySelectorAll(".block");
  let low = 0, high = blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const block = blocks[middle];
    if (block.offsetTop + block.offsetHeight <= top) low = middle + 1; else high = middle;
  }
  return Number(blocks[Math.min(low, blocks.length - 1)]?.dataset.at ?? 0);
}

/** Scroll to the strong mark, or else to the block of an offset, and bring the box into view. */
function scrollTo(box, offset) {
  let element;
  for (const block of box.querySelectorAll(".block")) {
    if (Number(block.dataset.at) > offset) break;
    element = block;
  }
  const mark = element?.querySelector("mark.strong") ?? element;
  if (!mark) return;
  const top = mark.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
  box.scrollTop = mark === element ? top - 8 : top - box.clientHeight / 3;
  const { bottom, top: boxTop } = box.getBoundingClientRect();
  if (bottom > innerHeight + 8 || boxTop < 0) box.closest(".reader").scrollIntoView({ block: "nearest" });
}
