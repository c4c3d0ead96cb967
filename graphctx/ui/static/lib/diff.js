// The difference of two texts by words: [{ text, kind: "same" | "added" | "removed" }].
const MAX_CELLS = 4_000_000;

export function wordDiff(before, after) {
  const one = before.match(/\s+|[^\s]+/g) ?? [];
  const two = after.match(/\s+|[^\s]+/g) ?? [];
  let start = 0;
  while (start < one.length && start < two.length && one[start] === two[start]) start += 1;
  let end = 0;
  while (end < one.length - start && end < two.length - start && one.at(-1 - end) === two.at(-1 - end)) end += 1;
  const a = one.slice(start, one.length - end);
  const b = two.slice(start, two.length - end);
  const parts = [];
  const push = (kind, word) => {
    const last = parts.at(-1);
    if (last?.kind === kind) last.text += word; else parts.push({ kind, text: word });
  };
  for (const word of one.slice(0, start)) push("same", word);
  if (a.length * b.length > MAX_CELLS) {
    for (const word of a) push("removed", word);
    for (const word of b) push("added", word);
  } else {
    const width = b.length + 1; // lengths of the longest common subsequences of what follows
    const lengths = new Uint32Array((a.length + 1) * width);
    for (let i = a.length - 1; i >= 0; i -= 1) {
      for (let j = b.length - 1; j >= 0; j -= 1) {
        lengths[i * width + j] = a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1] + 1
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
      }
    }
    let i = 0, j = 0;
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && a[i] === b[j]) { push("same", a[i]); i += 1; j += 1; }
      else if (j === b.length || (i < a.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) { push("removed", a[i]); i += 1; }
      else { push("added", b[j]); j += 1; }
    }
  }
  for (const word of end ? one.slice(-end) : []) push("same", word);
  return parts;
}
