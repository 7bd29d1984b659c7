import { LOGIN } from '../../testkit/service.ts';

/** Literals of JSON, valid and invalid. */
export const LITERALS: readonly string[] = [
  ...words(`0 -0 1999 1999.0 1.999e3 1E+2 -750 19.5 1e400 -1e400 1e-400 0e999999999999 1e15
    9007199254740991 -9007199254740991 9007199254740992 9007199254740993
    1.00000000000000000001 100000000000000000000e-20
    01 +1 .5 1. 0x10 NaN Infinity undefined null true [] {} [1] "" "1999"`),
  ...words(String.raw`"\u0000" "\ud800" "\udc00\ud800" "\ud83d\udcd6" "\uFFFF" "\x41" "\u0061" "\\" "\/</script>"
    "tab\tnewline\n\u001f\u0001" "{\"id\":1}" "{a,b,NULL}" "NULL" "\\N" "\" "`),
  `1${'0'.repeat(400)}`,
  `0.${'0'.repeat(400)}1`,
  `"'; drop table books; --"`,
  '"$1 %s {} :a @b ?"',
  '"a\u2028b\u2029c"',
  '"\u202Eright to left \u05D0\u0628"',
  '"👩‍🚀📚 e\u0301 é"',
  '"\uFEFF\u007F\u0080"',
  '"\t"',
];

/** Names of members, and similar names. */
export const NAMES: readonly string[] = [
  ...words(String.raw`title author year Title AUTHOR yEaR t\u0069tle titles tıtle ti\u0000tle id ID username Password
    __proto__ constructor prototype toString hasOwnProperty length 0`),
  'title ',
  '',
];

/** Bodies that a generator would not find. */
export const BODIES: readonly (string | Uint8Array)[] = [
  ...words(
    `null [] 1 "x" { } {} {}{} {"title"} {"title":} {,} {"a":1,} {'title':'a'} {/**/} [{"title":"a"}]`,
  ),
  LOGIN,
  '',
  ' ',
  '{} x',
  '\ufeff{}',
  '{"title":"a"}\0',
  '\0',
  '{"year":1}\u00a0',
  '\u2028{}',
  ...words('ff c080 eda080 f4908080 e28c f8888080').map((hex) =>
    Buffer.concat([Buffer.from('{"title":"'), Buffer.from(hex, 'hex'), Buffer.from('"}')]),
  ),
  Buffer.from('{"title":"a"}', 'utf16le'),
  Buffer.from('fffe7b007d00', 'hex'),
  '['.repeat(100_000),
  `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  `{"deep":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`,
  `{"title":${'['.repeat(1_000)}${']'.repeat(1_000)}}`,
  ...[63, 64].flatMap((depth) => [
    `{"deep":${'['.repeat(depth)}${']'.repeat(depth)},"title":"deep"}`,
    `${LOGIN.slice(0, -1)},"deep":${'{"]":'.repeat(depth)}"[{"${'}'.repeat(depth)}}`,
  ]),
  LOGIN.padEnd(16 * 1_024),
  LOGIN.padEnd(16 * 1_024 + 1),
  `{${'"title":"a",'.repeat(20_000)}"title":"b"}`,
  `{${Array.from({ length: 20_000 }, (_, index) => `"${index}":${index}`).join()},"title":"many"}`,
];

const MEBIBYTE = 1_024 * 1_024;

/** Bodies about as long as the limit: one is too long, some are longer in the response. */
export const LARGE_BODIES: readonly string[] = [
  `{"title":"${'x'.repeat(4_096)}"}`.padEnd(MEBIBYTE),
  `{"title":"a"}`.padEnd(MEBIBYTE + 1),
  `{"title":"${'📚'.repeat(4_096)}"}`,
  `{"title":"${'📚'.repeat(4_097)}"}`,
  `{"title":"${String.raw`\u0001`.repeat(4_096)}"}`,
  `{"author":"${'\u2028'.repeat(4_097)}","year":1e3}`,
  `{"year":${'1'.repeat(MEBIBYTE - 20)}}`,
  `{"year":1${'0'.repeat(MEBIBYTE - 40)}e-1048536}`,
  `{"${'x'.repeat(MEBIBYTE - 20)}":1}`,
];

/** Texts instead of an id. */
export const IDS: readonly string[] = [
  ...words(`0 00 01 -1 +1 1.0 1e0 0x1 abc 1,2 1;2 1/2 1?x=1 1#2 . .. * ~ {id} :id é __proto__ constructor null NaN
    % %zz %00 %2f %31 1%20 %D9%A1 %EF%BC%91 1'-- 1)or(1=1
    9007199254740991 9007199254740992 9223372036854775807 9223372036854775808 18446744073709551616`),
  `${'0'.repeat(5_000)}1`,
  '9'.repeat(10_000),
  '1\t',
  '1 ',
];

/** Texts instead of a token. */
export const TOKENS: readonly string[] = [
  ...words('. .. ... a.b.c a,b =.=.= null Bearer \u00ff\u00fe \x7f'),
  ...words('eyJhbGciOiJub25lIn0.e30. eyJhbGciOiJIUzI1NiJ9.e30.AA eyJhbGciOiJIUzI1NiJ9..'),
  '',
  ' ',
  '\t',
  `${'A'.repeat(4_000)}.${'A'.repeat(4_000)}.A`,
];

/** The words of a text. */
export function words(text: string): string[] {
  return text.split(/[ \n]+/);
}
