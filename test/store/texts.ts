/** Texts that a faulty store could alter, by their special property. */
export const SPECIAL_TEXTS = {
  'the empty string': '',
  'spaces around': '  padded\t\n',
  'letters of many scripts': 'Ἰλιάς, 紅樓夢, Мёртвые души, ألف ليلة وليلة, पञ्चतन्त्र',
  'characters beyond the basic plane': '𝔐𝔬𝔟𝔶 📚👩‍🚀 \u{10FFFF}',
  'composed and decomposed letters': 'é e\u0301',
  'control characters': Array.from({ length: 0x1f }, (_, index) => String.fromCharCode(index + 1)).join(''),
  'delete and the second block of controls': '\u007F\u0080\u0085\u009F',
  'line and paragraph separators': 'a\u2028b\u2029c',
  'marks of byte order and noncharacters': '\uFEFF\uFFFE\uFFFF\uFFFD',
  'quotes and backslashes': `"'\\"\\\\\\u0041 \\x \\n / </script>`,
  'characters with a meaning in SQL and formats': `'; drop table books; -- $1 ? :a @b %s %00 {a,b} NULL \\.`,
  JSON: '{"id":1,"title":null}',
  'a name of Object.prototype': '__proto__',
  'the longest': 'ß'.repeat(4_096),
} satisfies Record<string, string>;
