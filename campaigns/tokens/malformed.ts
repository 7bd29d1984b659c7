import { encodeBase64url, makeToken, withSpareBit } from '../../conformance/tokens.ts';
import { named } from './forging.ts';

/** Base64url that only lenient decoders accept. */
export function nonCanonical(valid: string): Record<string, string> {
  const inserted = [...Array.from(' \t\n\0=*%"+/,\xa0\xff~'), '\r\n', '==', '%3D'];
  const parts = valid.split('.');
  const places = parts.flatMap((part, index) => [0, 5, part.length].map((at) => ({ part, index, at })));
  return {
    ...named(inserted, (text) =>
      places.map(({ part, index, at }) => [
        `${JSON.stringify(text)} at ${at} of part ${index}`,
        parts.with(index, part.slice(0, at) + text + part.slice(at)).join('.'),
      ]),
    ),
    'a spare bit of the signature set': withSpareBit(valid),
    'in the alphabet of base64': Buffer.from(valid.replaceAll('-', '+').replaceAll('_', '/')).toString(
      'base64',
    ),
  };
}

/** Texts that have not three parts, or more than a token. */
export function malformed(valid: string): Record<string, string> {
  const [header = '', payload = '', signature = ''] = valid.split('.');
  const parts: Record<string, string> = { t: valid, h: header, p: payload, s: signature };
  const json = { protected: header, payload, signature };
  return {
    ...named(SHAPES, (shape) => [
      [`the text ${shape}`, shape.replace(/<([thps])>/g, (_, part: string) => parts[part] ?? '')],
    ]),
    ...named([1, 2, 3, 4, 100, 5_000], (count) => [
      [`${count} dots`, '.'.repeat(count)],
      [`${count} dots after it`, `${valid}${'.'.repeat(count)}`],
    ]),
    'in lower case': valid.toLowerCase(),
    'in upper case': valid.toUpperCase(),
    'encoded twice': encodeBase64url(valid),
    'flattened JSON': JSON.stringify(json),
    'general JSON': JSON.stringify({ payload, signatures: [json] }),
    'a long text': 'x'.repeat(4_000),
  };
}

/** Shapes, separated by two spaces; a token, its header, payload and signature are `<t>`, `<h>`, `<p>` and `<s>`. */
const SHAPES = `<h>  <h>.<p>  <h>.<p>.  .<t>  <t>.<s>  <t>.a.b  <h>..<p>..<s>  <h> <p> <s>  <s>  <s>.<p>.<h>
  Bearer <t>  bearer <t>  Token <t>  JWT <t>  Bearer: <t>  "<t>"  '<t>'  {<t>}  <t>,<t>  <t>, <t>  <t> <t>  <t>;
  token=<t>  <t>?  <t>#  null  undefined  0  admin  [object Object]  eyJ  ${'eyJ'.repeat(1_000)}`.split(
  /\s{2,}/,
);

/** Invalid parts, signed with the secret. */
export function withInvalidParts(secret: string, payload: object): Record<string, string> {
  const claims = JSON.stringify(payload);
  const payloads = [
    '',
    ' ',
    ...INVALID_CLAIMS,
    `[${claims}]`,
    `${claims}x`,
    `${claims}${claims}`,
    `${claims}\0`,
  ];
  return {
    ...named(payloads, (text) => [
      [`the payload ${JSON.stringify(text)}`, makeToken(secret, { payload: text })],
    ]),
    ...named(['', ...INVALID_HEADERS], (header) => [
      [`the header ${header}`, makeToken(secret, { header, payload })],
    ]),
    'a payload that is not UTF-8': makeToken(secret, { payload: claims, encode: encodeUtf16 }),
    'a payload that is not encoded': makeToken(secret, { payload: claims, encode: (text) => text }),
  };
}

const INVALID_CLAIMS =
  `[] null true 1 "exp" { {'exp':1} {"exp":NaN} {"exp":0x7fffffff} {exp:1} /**/{} {}//`.split(' ');
const INVALID_HEADERS = '{} [] ["HS256"] null "HS256" HS256 {"alg":"HS256" {"typ":"JWT"} {"alg":HS256}'.split(
  ' ',
);

export function outOfTime(secret: string, now: number): Record<string, string> {
  const types = `"9999999999" "" null true false {} [] [9999999999] {"valueOf":9999999999}`.split(' ');
  const passed = [now, now - 1, now - 0.001, 0, -0, -1, 1e-9, -9_999_999_999].map(String);
  const claims = [
    ...[...types, ...passed, '-1e400', '1e-400'].map((exp) => `{"exp":${exp}}`),
    ...[...types, now + 1, now + 0.001, '1e400', '9999999999'].map(
      (nbf) => `{"exp":9999999999,"nbf":${nbf}}`,
    ),
    `{"exp":9999999999,"exp":${now}}`,
    `{"nbf":0,"nbf":${now + 1}}`,
    String.raw`{"e\u0078p":1}`,
  ];
  return named(claims, (payload) => [[`the claims ${payload}`, makeToken(secret, { payload })]]);
}

function encodeUtf16(text: string): string {
  return Buffer.from(text, 'utf16le').toString('base64url');
}
