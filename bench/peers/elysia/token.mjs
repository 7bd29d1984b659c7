import { timingSafeEqual } from 'node:crypto';
import { CryptoHasher } from 'bun';

const { SECRET_TOKEN } = process.env;
const LIFETIME_SECONDS = 15 * 60;
const HASHES = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' };
const HEADER = encode({ alg: 'HS256', typ: 'JWT' });

export function issueToken() {
  const signed = `${HEADER}.${encode({ exp: Math.floor(Date.now() / 1_000) + LIFETIME_SECONDS })}`;
  return `${signed}.${sign('sha256', signed).toString('base64url')}`;
}

export function isValid(token) {
  const [header, claims, signature, ...rest] = token.split('.');
  if (signature === undefined || rest.length > 0) return false;
  try {
    const hash = HASHES[decode(header).alg];
    if (!hash) return false;
    const expected = sign(hash, `${header}.${claims}`);
    const actual = Buffer.from(signature, 'base64url');
    return (
      actual.length === expected.length &&
      timingSafeEqual(actual, expected) &&
      decode(claims).exp > Date.now() / 1_000
    );
  } catch {
    return false;
  }
}

function sign(hash, text) {
  return new CryptoHasher(hash, SECRET_TOKEN).update(text).digest();
}

function encode(value) {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decode(part) {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}
