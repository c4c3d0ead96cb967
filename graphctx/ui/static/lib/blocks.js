// The text of a document in blocks: paragraphs, items of lists, headings, code. Joined, the blocks are the text,
// character for character; a paragraph that its author wrapped is folded by the page's style alone.

const CODE = /\.(?:py|pyi|js|mjs|ts|tsx|jsx|java|kt|go|rs|c|h|cc|cpp|hpp|cs|rb|php|sh|bash|sql|toml|ya?ml|json|css|proto|lua|r|scala|swift|ini|cfg|xml)$/i;
const MARKDOWN = /\.(?:md|mdx|markdown)$/i;
const RST = /\.(?:rst|rest)$/i;
const WRAPPED = /\.(?:txt|text|pdf)$/i;
const WIDEST = 200; // text that is wrapped by hand has no longer line
const LONGEST = 4000; // characters of one block of code
const FENCE = /^\s*(?:`{3,}|~{3,})/;
const ITEM = /^\s*(?:[-*+•]|\d{1,9}[.)])\s+(?=\S)/;
const MARKUP = /(?<code>`[^`\n]+`)|(?<!\w)!?(?<open>\[)[^[\]\n]+(?<close>\]\([^()\n]*\))|(?<bold>\*\*)(?=\S)[^*\n]+(?<=\S)\*\*/g;

/**
 * Split a text. `headings` maps offsets to levels; offsets count UTF-16 units of the text.
 * Returns [{ start, end, kind: "prose" | "code" | "heading", level, indent, gap }].
 */
export function blocksOf(text, uri, headings = new Map()) {
  const name = uri.split("#")[0];
  const all = CODE.test(name), markdown = MARKDOWN.test(name), rst = RST.test(name);
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const widest = lines.reduce((most, line) => Math.max(most, line.length - 1), 0);
  const wrapped = WRAPPED.test(name) && widest <= WIDEST;
  const blocks = [];
  let start = 0, fenced = false, open = false, listed = false, before = "";
  for (const line of lines) {
    const end = start + line.length, last = blocks.at(-1);
    const indent = line.length - line.trimStart().length;
    const fence = markdown && FENCE.test(line), item = ITEM.test(line);
    const indented = (markdown ? indent >= 4 : rst && indent > 0) && !open && !listed;
    const code = all || fenced || fence || indented || (markdown && /^\s*\|/.test(line)) || (!item && /\S\s{3,}\S/.test(line));
    const goesOn = open && !item && (markdown || rst || (wrapped && follows(before, line, widest)));
    if (!line.trim()) {
      if (last && (fenced || all || last.kind !== "code")) Object.assign(last, { end, gap: true });
      else blocks.push({ kind: "prose", start, end, indent: 0, gap: true });
      open = false;
    } else if (headings.has(start)) {
      blocks.push({ kind: "heading", start, end, level: headings.get(start), indent: 0, gap: true });
      open = listed = false;
    } else if (code) {
      const joins = last?.kind === "code" && !(fence && !fenced) && end - last.start < LONGEST;
      if (joins) Object.assign(last, { end, gap: false }); else blocks.push({ kind: "code", start, end, indent: 0 });
      open = false;
    } else if (goesOn) {
      last.end = end;
    } else {
      listed = item || (listed && indent > 0);
      blocks.push({ kind: "prose", start, end, indent, item });
      open = true;
    }
    if (fence) fenced = !fenced;
    before = line;
    start = end;
  }
  return blocks;
}

/** Whether a line goes on the one before it: it begins in lower case, or with a word for which there was no space. */
function follows(before, line, widest) {
  const first = line.trim().split(/\s/)[0];
  return /^\p{Ll}/u.test(first) || before.length + first.length > widest;
}

/** The spans of a Markdown block that are shown differently: [{ start, end, look: "markup" | "bold" | "inline" }]. */
export function looksOf(text, uri, kind) {
  if (kind === "code" || !MARKDOWN.test(uri.split("#")[0])) return [];
  const looks = [];
  const hashes = kind === "heading" && text.match(/^#{1,6}\s+/);
  if (hashes) looks.push({ start: 0, end: hashes[0].length, look: "markup" });
  for (const found of text.matchAll(MARKUP)) {
    const start = found.index, end = start + found[0].length;
    const { code, close, bold } = found.groups;
    if (code) looks.push({ start, end, look: "inline" });
    if (close) looks.push({ start, end: text.indexOf("[", start) + 1, look: "markup" }, { start: end - close.length, end, look: "markup" });
    if (bold) looks.push({ start, end: start + 2, look: "markup" }, { start: start + 2, end: end - 2, look: "bold" }, { start: end - 2, end, look: "markup" });
  }
  return looks;
}

/** Cut [start, end) at the borders of spans: [{ start, end, spans }], in order. */
export function pieces(start, end, spans) {
  const inside = spans.filter((span) => span.start < end && span.end > start);
  const borders = new Set([start, end]);
  for (const span of inside) borders.add(Math.max(start, span.start)).add(Math.min(end, span.end));
  const at = [...borders].sort((one, other) => one - other);
  return at.slice(1).map((to, number) => {
    const from = at[number];
    return { start: from, end: to, spans: inside.filter((span) => span.start < to && span.end > from) };
  });
}
