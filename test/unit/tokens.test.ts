import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { describe, test } from 'node:test';
import { RENEWAL_SECONDS_MAX, TOKEN_LIFETIME_SECONDS, Tokens } from '../../src/auth/tokens.ts';
import { Invalid } from '../../src/json/invalid.ts';
import { Secret } from '../../src/secret.ts';

const KEY = 'a secret of thirty-two bytes ...';
/** The clock of these tests, in seconds; half a second has passed since. */
const NOW = 1_700_000_000;
const now = () => NOW * 1_000 + 500;

/** The algorithms that are accepted, with their hashes. */
const HASHES = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' } as const;

const tokens = new Tokens(new Secret(KEY), now);

describe('An issued token', () => {
  test('is HS256 with the single claim exp, 15 minutes from now', () => {
    const token = tokens.issue();
    const [header = '', payload = '', signature] = token.split('.');

    assert.deepEqual(decode(header), { alg: 'HS256', typ: 'JWT' });
    assert.deepEqual(decode(payload), { exp: NOW + 900 });
    assert.equal(signature, createHmac('sha256', KEY).update(`${header}.${payload}`).digest('base64url'));
    assert.equal(TOKEN_LIFETIME_SECONDS, 900);
  });

  test('is valid', () => {
    assert.equal(tokens.verify(tokens.issue()), 'valid');
  });

  test('has a scope if one is given', () => {
    const token = tokens.issue(60, 'read');
    assert.deepEqual(decode(token.split('.')[1] ?? ''), { exp: NOW + 60, scope: 'read' });
    assert.equal(tokens.verify(token), 'read-only');
  });

  test('is valid with the same key, however short, and with no other', () => {
    const short = new Tokens(new Secret('k'), now);
    const token = short.issue();
    assert.equal(new Tokens(new Secret('k'), now).verify(token), 'valid');
    assert.notEqual(new Tokens(new Secret('K'), now).verify(token), 'valid');
    assert.notEqual(tokens.verify(token), 'valid');
  });
});

describe('A renewed token', () => {
  const HOURS = 3_600;
  test('is HS256 with exp, 15 minutes from now, and auth_time, the time of the sign-in', () => {
    const token = tokens.renew(tokens.issue()) as string;
    const [header = '', payload = '', signature] = token.split('.');
    assert.deepEqual(decode(header), { alg: 'HS256', typ: 'JWT' });
    assert.deepEqual(decode(payload), { exp: NOW + 900, auth_time: NOW });
    assert.equal(signature, createHmac('sha256', KEY).update(`${header}.${payload}`).digest('base64url'));
    assert.equal(tokens.verify(token), 'valid');
  });

  test('has the sign-in 15 minutes before exp if the token has no auth_time, as those of the service in Go', () => {
    assert.deepEqual(renewed({ exp: NOW + 60 }), { exp: NOW + 900, auth_time: NOW - 840 });
    assert.deepEqual(renewed({ exp: NOW + 0.75 }), { exp: NOW + 900, auth_time: NOW - 899.25 });
  });

  test('keeps auth_time and the scope, and no other claim', () => {
    const auth_time = NOW - 11 * HOURS;
    assert.deepEqual(renewed({ exp: NOW + 1, auth_time, sub: 'x', scope: 'write', nbf: 1 }), {
      exp: NOW + 900,
      auth_time,
    });
    assert.deepEqual(renewed({ exp: NOW + 1, auth_time, scope: 'read' }), {
      exp: NOW + 900,
      auth_time,
      scope: 'read',
    });
  });

  test('is issued for 12 hours after the sign-in, also by a clock that is behind that of the sign-in', () => {
    for (const ago of [-60, 0, 12 * HOURS - 1])
      assert.equal(renewed({ exp: NOW + 60, auth_time: NOW - ago })?.auth_time, NOW - ago);
    for (const ago of [12 * HOURS, 12 * HOURS + 1, NOW])
      assert.equal(renewed({ exp: NOW + 60, auth_time: NOW - ago }), undefined);
    assert.equal(RENEWAL_SECONDS_MAX, 12 * HOURS);
  });

  test('ends a session at most 12 hours and 15 minutes after the sign-in, however often it is renewed', () => {
    let seconds = NOW;
    const clock = new Tokens(new Secret(KEY), () => seconds * 1_000);
    let token = clock.issue();
    for (let next: string | Invalid = token; !(next instanceof Invalid); seconds += 600) {
      token = next;
      next = clock.renew(token);
    }
    seconds = NOW + 12 * HOURS + 900;
    assert.equal(clock.verify(token), 'expired');
  });

  test('is not issued without exp, or for an auth_time that is not a number', () => {
    assert.equal(renewed({}), undefined);
    assert.equal(renewed({ auth_time: NOW }), undefined);
    for (const auth_time of [`${NOW}`, null, true, {}, [NOW]])
      assert.equal(renewed({ exp: NOW + 60, auth_time }), undefined, JSON.stringify(auth_time));
    const infinite = encodeText(`{"exp":${NOW + 60},"auth_time":1e400}`);
    assert.ok(tokens.renew(signed(encode({ alg: 'HS256' }), infinite)) instanceof Invalid);
  });

  test('of the previous key is signed with the current one', () => {
    const rotated = new Tokens(new Secret('another key'), now, new Secret(KEY));
    const token = rotated.renew(make({ payload: { exp: NOW + 60 } })) as string;
    assert.equal(new Tokens(new Secret('another key'), now).verify(token), 'valid');
    assert.equal(tokens.verify(token), 'wrong signature');
  });
});

/** The claims of the renewed token; undefined if it is not renewed. */
function renewed(payload: object): Record<string, unknown> | undefined {
  const token = tokens.renew(make({ payload }));
  if (token instanceof Invalid) return undefined;
  assert.notEqual(tokens.verify(token), 'invalid');
  return decode(token.split('.')[1] ?? '') as Record<string, unknown>;
}

/** An array that is nested so deep. */
function nested(depth: number): unknown {
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth));
}

/** With the key of these tests as the current and as the previous one. */
const VERIFIERS = {
  '': tokens,
  ', by the previous key': new Tokens(new Secret('another key'), now, new Secret(KEY)),
};

describe('A token is accepted', () => {
  const ACCEPTED: Record<string, string> = {
    'that expires later': make({ payload: { exp: NOW + 1 } }),
    'that expires later in this second': make({ payload: { exp: NOW + 0.6 } }),
    'without exp': make({ payload: {} }),
    'whose nbf is this second': make({ payload: { nbf: NOW } }),
    'whose claims are nested 64 deep': make({ payload: { exp: NOW + 1, x: nested(63) } }),
    'with other claims': make({ payload: { sub: 'x', iss: 1, aud: [], exp: NOW + 1 } }),
    'of HS384': make({ alg: 'HS384' }),
    'of HS512': make({ alg: 'HS512' }),
    'without typ, with kid': make({ header: { alg: 'HS256', kid: 'x' } }),
  };
  for (const [which, token] of Object.entries(ACCEPTED)) {
    for (const [how, verifier] of Object.entries(VERIFIERS)) {
      test(which + how, () => {
        assert.equal(verifier.verify(token), 'valid');
        assert.equal(verifier.verify(token), 'valid', 'the second time');
      });
    }
  }
});

describe('A token is rejected', () => {
  const valid = make();
  const [header = '', payload = '', signature = ''] = valid.split('.');
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  const REJECTED: Record<string, string> = {
    'that expired': make({ payload: { exp: NOW - 1 } }),
    'that expires now': make({ payload: { exp: NOW } }),
    'that expired earlier in this second': make({ payload: { exp: NOW + 0.4 } }),
    'whose nbf is in the future': make({ payload: { nbf: NOW + 1 } }),
    'whose exp is a text': make({ payload: { exp: `${NOW + 900}` } }),
    'whose exp is null': make({ payload: { exp: null } }),
    'whose nbf is a text': make({ payload: { nbf: '0' } }),
    'whose nbf is null': make({ payload: { nbf: null } }),

    'whose claims are nested deeper than 64': make({ payload: { exp: NOW + 1, x: nested(64) } }),
    'whose header is nested deeper than 64': make({ header: { alg: 'HS256', x: nested(64) } }),

    'signed with another key': make({ key: `${KEY} ` }),
    'signed with an empty key': make({ key: '' }),
    'signed with another hash than its alg': make({ header: { alg: 'HS256' }, alg: 'HS512' }),
    'with another signature': `${header}.${payload}.${createHmac('sha256', KEY).update(payload).digest('base64url')}`,
    'with another payload': `${header}.${encode({ exp: NOW + 9_000 })}.${signature}`,
    'with another header': `${encode({ alg: 'HS256' })}.${payload}.${signature}`,

    'of the algorithm none': `${encode({ alg: 'none' })}.${payload}.`,
    'of the algorithm none, signed': make({ header: { alg: 'none' } }),
    'of RS256 with its own key': makeSigned('RS256', (data) => sign('sha256', data, rsa.privateKey)),
    'of ES256 with its own key': makeSigned('ES256', (data) =>
      sign('sha256', data, { key: ec.privateKey, dsaEncoding: 'ieee-p1363' }),
    ),
    'whose alg is RS256, but which is signed by HMAC': make({ header: { alg: 'RS256' } }),
    'of hs256': make({ header: { alg: 'hs256' } }),
    'of HS256 with the public key of an RSA pair': make({
      key: rsa.publicKey.export({ type: 'spki', format: 'pem' }),
    }),
    'with its own key in jwk': make({
      key: 'a key of the attacker',
      header: { alg: 'HS256', jwk: { kty: 'oct', k: encodeText('a key of the attacker') } },
    }),
    'whose kid is an empty file, signed with an empty key': make({
      key: '',
      header: { alg: 'HS256', kid: '/dev/null' },
    }),
    'without an algorithm': make({ header: { typ: 'JWT' } }),
    'whose alg is no text': make({ header: { alg: ['HS256'] } }),
    'with an unknown critical extension': make({ header: { alg: 'HS256', crit: ['books'], books: true } }),
    'with an empty list of critical extensions': make({ header: { alg: 'HS256', crit: [] } }),
    'whose payload is not encoded': make({ header: { alg: 'HS256', b64: false, crit: ['b64'] } }),

    'whose exp is infinite': signed(header, encodeText('{"exp":1e400}')),
    'whose nbf is infinite': signed(header, encodeText('{"nbf":-1e400}')),
    'whose header begins with a byte-order mark': signed(encodeText('\ufeff{"alg":"HS256"}'), payload),
    'whose header is not UTF-8': signed(encodeText('{"alg":"HS256","kid":"\xff"}', 'latin1'), payload),
    'whose payload begins with a byte-order mark': signed(header, encodeText('\ufeff{}')),
    'whose payload is not UTF-8': signed(header, encodeText('{"sub":"\xff"}', 'latin1')),

    'whose payload is an array': make({ payload: [] }),
    'whose payload is null': make({ payload: null }),
    'whose payload is a number': make({ payload: NOW + 900 }),
    'whose payload is no JSON': signed(encode({ alg: 'HS256' }), Buffer.from('{').toString('base64url')),
    'whose header is an array': signed(encode(['HS256']), payload),
    'whose header is no JSON': signed(Buffer.from('alg').toString('base64url'), payload),

    'that is empty': '',
    'that is two dots': '..',
    'of one part': header,
    'of two parts': `${header}.${payload}`,
    'of four parts': `${valid}.`,
    'of five parts, as encrypted ones have': `${valid}.a.b`,
    'of two tokens': `${valid}, ${valid}`,
    'with the word Bearer': `Bearer ${valid}`,
    'with white space around': ` ${valid} `,
    'with padding': `${valid}=`,
    'with a line break inside': `${header}.${payload}.\n${signature}`,
    'in the other alphabet of base64': signed(
      header,
      encode({ exp: NOW + 1, x: '???>>>' })
        .replaceAll('_', '/')
        .replaceAll('-', '+'),
    ),
    'with an invalid character that lenient decoders skip': `${header}.${payload}.*${signature}`,
    'with spare bits set, that lenient decoders ignore': withSpareBit(valid),
    'as JSON': JSON.stringify({ protected: header, payload, signature }),
    'with header and payload swapped': `${payload}.${header}.${signature}`,
    'in lower case': valid.toLowerCase(),
    'with half of the signature': `${header}.${payload}.${signature.slice(0, 20)}`,
    'with the signature twice': `${header}.${payload}.${signature}${signature}`,
    'with the signature in hexadecimal': `${header}.${payload}.${Buffer.from(signature, 'base64url').toString('hex')}`,
    'of random text': 'x'.repeat(100_000),
  };
  for (const [which, token] of Object.entries(REJECTED)) {
    for (const [how, verifier] of Object.entries(VERIFIERS)) {
      test(which + how, () => {
        assert.notEqual(verifier.verify(token), 'valid');
        assert.notEqual(verifier.verify(token), 'valid', 'the second time');
      });
    }
  }
});

test('The verdict says why a token is rejected, and that it has expired only if the key has signed it', () => {
  const expired = { exp: NOW - 1 };
  for (const verifier of Object.values(VERIFIERS)) {
    assert.equal(verifier.verify(make({ payload: expired })), 'expired');
    assert.equal(verifier.verify(make({ key: 'a third key', payload: expired })), 'wrong signature');
    assert.equal(verifier.verify(make({ payload: { nbf: NOW + 1 } })), 'invalid');
    assert.equal(verifier.verify('x'), 'invalid');
  }
});

describe('The previous key', () => {
  const OTHER = 'the key that has replaced it...';
  const changing = new Tokens(new Secret(OTHER), now, new Secret(KEY));

  test('does not sign', () => {
    const token = changing.issue();
    assert.equal(new Tokens(new Secret(OTHER), now).verify(token), 'valid');
    assert.notEqual(tokens.verify(token), 'valid');
  });

  test('does not affect tokens of the current key', () => {
    assert.equal(changing.verify(make({ key: OTHER })), 'valid');
    assert.notEqual(changing.verify(make({ key: OTHER, payload: { exp: NOW } })), 'valid');
  });

  test('verifies nothing if it or the current key is empty', () => {
    assert.notEqual(new Tokens(new Secret(OTHER), now, new Secret('')).verify(make({ key: '' })), 'valid');
    assert.notEqual(new Tokens(new Secret(''), now, new Secret(KEY)).verify(make()), 'valid');
  });
});

describe('An empty key', () => {
  const keyless = new Tokens(new Secret(''), now);

  test('signs nothing', () => {
    assert.throws(() => keyless.issue(), /empty key/);
  });

  test('verifies nothing', () => {
    assert.notEqual(keyless.verify(make({ key: '' })), 'valid');
    assert.notEqual(keyless.verify(make()), 'valid');
  });
});

describe('A verified token', () => {
  test('is cached until it expires', () => {
    let seconds = NOW;
    const clocked = new Tokens(new Secret(KEY), () => seconds * 1_000);
    const token = clocked.issue();
    assert.equal(clocked.verify(token), 'valid');

    seconds = NOW + 899;
    assert.equal(clocked.verify(token), 'valid');
    seconds = NOW + 900;
    assert.equal(clocked.verify(token), 'expired');
    assert.equal(clocked.verify(token), 'expired');
  });

  test('is cached with its scope', () => {
    const own = new Tokens(new Secret(KEY), now);
    const token = own.issue(60, 'read');
    assert.equal(own.verify(token), 'read-only');
    assert.equal(own.verify(token), 'read-only');
    assert.deepEqual(own.cache, { hits: 1, misses: 1 });
    for (const scope of ['', 'READ', 'read write', null, 1, ['read']])
      assert.equal(own.verify(make({ payload: { scope } })), 'valid');
  });

  test('stays cached when other tokens are rejected', () => {
    const own = new Tokens(new Secret(KEY), now);
    const token = make();
    own.verify(token);
    for (const other of [`${token}.`, token.slice(0, -1), withSpareBit(token)]) {
      assert.notEqual(own.verify(other), 'valid');
    }
    assert.equal(own.verify(token), 'valid');
  });

  test('is removed from the cache, the oldest first, beyond 10,000', () => {
    const own = new Tokens(new Secret(KEY), now);
    const many = Array.from({ length: 10_001 }, (_, index) => make({ payload: { exp: NOW + 1 + index } }));
    for (const token of many) assert.equal(own.verify(token), 'valid');

    assert.equal(own.verify(many[1] ?? ''), 'valid');
    assert.equal(own.verify(many[10_000] ?? ''), 'valid');
    assert.deepEqual(own.cache, { hits: 2, misses: 10_001 });
    assert.equal(own.verify(many[0] ?? ''), 'valid');
    assert.deepEqual(own.cache, { hits: 2, misses: 10_002 });
  });
});

/** The differences from a valid HS256 token. */
interface Parts {
  readonly key?: string;
  readonly alg?: keyof typeof HASHES;
  readonly header?: unknown;
  readonly payload?: unknown;
}

/** Makes a token (RFC 7515, section 7.1). */
function make({
  key = KEY,
  alg = 'HS256',
  header = { alg, typ: 'JWT' },
  payload = { exp: NOW + 900 },
}: Parts = {}) {
  return signed(encode(header), encode(payload), (data) =>
    createHmac(HASHES[alg], key).update(data).digest(),
  );
}

function makeSigned(alg: string, signer: (data: Buffer) => Buffer): string {
  return signed(encode({ alg }), encode({ exp: NOW + 900 }), signer);
}

function signed(
  header: string,
  payload: string,
  signer: (data: Buffer) => Buffer = (data) => createHmac('sha256', KEY).update(data).digest(),
): string {
  const data = `${header}.${payload}`;
  return `${data}.${signer(Buffer.from(data)).toString('base64url')}`;
}

function encode(value: unknown): string {
  return encodeText(JSON.stringify(value));
}

function encodeText(text: string, encoding: BufferEncoding = 'utf8'): string {
  return Buffer.from(text, encoding).toString('base64url');
}

function decode(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}

/** Another text of the same bytes: base64url of 32 bytes has two unused bits. */
function withSpareBit(token: string): string {
  const signature = token.split('.')[2] ?? '';
  const twin = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    .split('')
    .map((last) => signature.slice(0, -1) + last)
    .find(
      (text) =>
        text !== signature && Buffer.from(text, 'base64url').equals(Buffer.from(signature, 'base64url')),
    );
  assert.ok(twin);
  return token.replace(signature, twin);
}
