import { encodeBase64url, makeToken } from '../../conformance/tokens.ts';
import { type Forger, named } from './forging.ts';

/** The algorithm `none`, in all combinations of case, escaped, and misspelled. */
export function unsigned(secret: string, payload: object): Record<string, string> {
  const cases = Array.from({ length: 16 }, (_, bits) =>
    'none'.replace(/./g, (letter, at: number) => (bits & (1 << at) ? letter.toUpperCase() : letter)),
  );
  const misspelled = [' none', 'none ', 'none\0', 'n\u043ene', 'null', 'undefined', ''];
  const headers = [...cases, ...misspelled].map((alg) => JSON.stringify({ alg }));
  const others = [String.raw`{"alg":"n\u006fne"}`, '{"alg":"HS256","alg":"none"}', '{"ALG":"none"}'];
  return named([...headers, ...others], (header) => [
    [`unsigned, ${header}`, `${encodeBase64url(header)}.${encodeBase64url(JSON.stringify(payload))}.`],
    [`signed, ${header}`, makeToken(secret, { header, payload })],
  ]);
}

export function otherAlgorithms(secret: string, payload: object): Record<string, string> {
  const words = `RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 ES256K EdDSA Ed25519 ML-DSA-44 HS1 HS224 HS2048
    hs256 Hs256 HS-256 HMAC SHA256 HMACSHA256 A256KW A256GCM dir RSA-OAEP PBES2-HS256+A128KW __proto__ toString`;
  const values = [...words.split(/\s+/), ' HS256', 'HS256 ', 'HS256\0', 'HS256,HS512'];
  const others = [['HS256'], { name: 'HS256' }, 256, true, null];
  return named([...values, ...others], (alg) => [
    [`the algorithm ${JSON.stringify(alg)}`, makeToken(secret, { header: { alg }, payload })],
  ]);
}

export function withGuessedSecrets(secret: string, forger: Forger): Record<string, string> {
  return named(Object.entries(forger.guesses(secret)), ([guess, key]) => [
    [`signed with the secret ${guess}`, forger.symmetric(key)],
  ]);
}

/** Headers that refer to a key of the attacker (RFC 7515, section 4.1). */
export function withKeyHeaders(forger: Forger): Record<string, string> {
  const key = 'the key of an attacker, long enough';
  const headers: object[] = [
    { kid: '../../../../dev/null' },
    { kid: '/dev/null' },
    { kid: "' union select 'key" },
    { kid: 'key|/usr/bin/id' },
    { kid: { toString: 'key' } },
    { kid: '' },
    { jku: 'http://127.0.0.1:1/keys.json' },
    { jku: 'file:///etc/hostname' },
    { x5u: 'http://127.0.0.1:1/key.pem' },
    { jwk: { kty: 'oct', k: encodeBase64url(key) } },
    { jwk: { kty: 'oct', k: '' } },
    { jwks: { keys: [{ kty: 'oct', k: encodeBase64url(key) }] } },
    { k: encodeBase64url(key) },
  ];
  return named(headers, (header) =>
    [key, ''].map((used) => [
      `${JSON.stringify(header).slice(0, 60)} and ${used === '' ? 'no key' : 'its key'}`,
      forger.symmetric(used, { header: { alg: 'HS256', ...header } }),
    ]),
  );
}

export function withCriticalExtensions(secret: string, payload: object): Record<string, string> {
  const lists = [
    ['exp'],
    ['b64'],
    ['alg'],
    ['crit'],
    ['x', 'b64'],
    ['constructor'],
    [],
    [1],
    [''],
    'exp',
    null,
    {},
    0,
  ];
  return named(lists, (crit) =>
    [true, false].map((b64) => [
      `crit ${JSON.stringify(crit)}, b64 ${b64}`,
      makeToken(secret, { header: { alg: 'HS256', crit, b64, exp: 1, x: 1 }, payload }),
    ]),
  );
}

export function withOtherSignatures(secret: string, valid: string): Record<string, string> {
  const [header = '', payload = '', signature = ''] = valid.split('.');
  const bytes = Buffer.from(signature, 'base64url');
  const flipped = Array.from({ length: 8 }, (_, bit) =>
    Buffer.from(bytes.with(bit * 4, (bytes[bit * 4] ?? 0) ^ (1 << bit))),
  );
  const signatures: Record<string, string> = {
    nothing: '',
    'zero bytes': Buffer.alloc(32).toString('base64url'),
    'one byte of it': bytes.subarray(0, 1).toString('base64url'),
    'half of it': bytes.subarray(0, 16).toString('base64url'),
    'all but its last byte': bytes.subarray(0, 31).toString('base64url'),
    'it and a byte more': Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64url'),
    'it, twice': Buffer.concat([bytes, bytes]).toString('base64url'),
    'it, in hexadecimal': bytes.toString('hex'),
    'it, encoded twice': encodeBase64url(signature),
    'it, reversed': bytes.toReversed().toString(),
    'that of HS512': makeToken(secret, { signedWith: 'HS512' }).split('.')[2] ?? '',
    'the payload': payload,
    ...named([...flipped.entries()], ([bit, other]) => [
      [`it, bit ${bit} flipped`, other.toString('base64url')],
    ]),
  };
  return {
    ...named(Object.entries(signatures), ([which, other]) => [
      [`its signature is ${which}`, `${header}.${payload}.${other}`],
    ]),
    'its payload is another': `${header}.${encodeBase64url('{"exp":9999999999}')}.${signature}`,
    'its payload is missing': `${header}..${signature}`,
    'its header is another': `${encodeBase64url('{"alg":"HS256"}')}.${payload}.${signature}`,
    'its header is missing': `.${payload}.${signature}`,
    'header and payload are swapped': `${payload}.${header}.${signature}`,
  };
}
