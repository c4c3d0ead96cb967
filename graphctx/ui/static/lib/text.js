// Offsets. The server counts characters (code points), JavaScript counts UTF-16 units: 😀 is one there and two here.

/** Return a function from an offset in characters to one in UTF-16 units; offsets are asked for in any order. */
export function utf16Offsets(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (offset) => offset;
  const long = []; // the character offsets of characters that take two units
  let characters = 0;
  for (const character of text) {
    if (character.length === 2) long.push(characters);
    characters += 1;
  }
  return (offset) => {
    let low = 0, high = long.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (long[middle] < offset) low = middle + 1; else high = middle;
    }
    return offset + low;
  };
}

/** Return text[start:end] by character offsets. */
export function slice(text, start, end) {
  const at = utf16Offsets(text);
  return text.slice(at(start), at(end));
}

/** Make control and bidirectional characters visible, as the command line does. */
export function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u{${character.codePointAt(0).toString(16)}}`);
}

export const number = (value) => Number(value).toLocaleString("en");
export const plural = (count, word, words = `${word}s`) => `${number(count)} ${count === 1 ? word : words}`;

/** Show a size in bytes: 12 KB. */
export function bytes(size) {
  const power = Math.min(3, Math.floor(Math.log10(Math.max(size, 1)) / 3));
  const value = size / 1000 ** power;
  return `${value.toLocaleString("en", { maximumFractionDigits: value < 10 && power ? 1 : 0 })} ${["bytes", "KB", "MB", "GB"][power]}`;
}
