/** Longer than the widest row. */
const LENGTH_MAX = 400;

/** A text on one line: truncated, and with symbols for white space that would be invisible. */
export function visibleText(text: string): string {
  const short =
    text.length > LENGTH_MAX ? `${text.slice(0, LENGTH_MAX).replace(/[\uD800-\uDBFF]$/, '')}…` : text;
  if (/^\s*$/u.test(short)) return short.replace(/\s/gu, '␣');
  return short.replace(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/g, '↵').replaceAll('\t', '⇥');
}
