import { createHmac } from 'node:crypto';
import { makeToken } from '../tokens.ts';
import type { Planted } from './violations.ts';

const HASHES: Readonly<Record<string, string>> = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' };

/** Issues a token that expires in 15 minutes. @param scope as in the body of the login */
export function issueToken(secret: string, scope: unknown, has: Planted): string {
  const alg = has('tokens are signed with HS512') ? 'HS512' : 'HS256';
  const lifetime = has('a token expires after an hour') ? 3600 : 900;
  const exp = (now() + lifetime) * (has('exp is in milliseconds') ? 1000 : 1);
  const isScoped = scope !== undefined;
  const hasSurplus = has(isScoped ? 'a read-only token has a third claim' : 'a token has a second claim');
  const claims = { exp, ...(isScoped && { scope }), ...(hasSurplus && { iat: now() }) };
  const key = has('tokens are signed with another secret') ? 'another secret' : secret;
  return makeToken(key, { signedWith: alg, payload: claims });
}

/** Renews a valid token; undefined when it cannot be renewed. */
export function renewToken(token: string, secret: string, has: Planted): string | undefined {
  const { exp, auth_time, scope } = readObject(token.split('.')[1] ?? '') ?? {};
  const signIn = auth_time === undefined ? Number(exp) - 900 : auth_time;
  if (typeof signIn !== 'number' && !has('any auth_time is accepted')) return undefined;
  if (exp === undefined && !has('a token without exp is renewed')) return undefined;
  const isOver = Number(signIn) + 12 * 3600 <= now();
  if (isOver && !has('tokens are renewed without end')) return undefined;
  if (!isOver && has('tokens are renewed for an hour') && Number(signIn) + 3600 <= now()) return undefined;
  const hasScope = scope !== undefined && !has('a renewed token may do everything');
  const claims = {
    exp: now() + (has('a renewed token expires after an hour') ? 3600 : 900),
    auth_time: has('a renewal counts as a sign-in') ? now() : signIn,
    ...(hasScope && { scope }),
  };
  return makeToken(secret, { payload: claims });
}

/** Whether the header value is a valid token. */
export function isValidToken(value: string, secret: string, has: Planted): boolean {
  const token = has('a word before the token is skipped') ? value.replace(/^\w+ /, '') : value;
  const segments = token.split('.');
  const [first = '', second = '', signature = ''] = segments;
  if (segments.length !== 3) return false;
  if (!has('base64url is read leniently') && !segments.every(isCanonical)) return false;
  const header = has('the header of a token is ignored') ? { alg: 'HS256' } : readObject(first);
  const claims = readObject(second) ?? (has('a payload that is no object has no claims') ? {} : undefined);
  if (!header || !claims) return false;
  if ('crit' in header && !has('crit is ignored')) return false;
  return isSigned(`${first}.${second}`, signature, header, secret, has) && isInTime(claims, has);
}

/** Whether a valid token is limited to GET and HEAD. */
export function isReadOnly(value: string, has: Planted): boolean {
  const { scope } = readObject(value.split('.')[1] ?? '') ?? {};
  return scope === 'read' || (scope !== undefined && has('any scope is read-only'));
}

function isSigned(
  signed: string,
  signature: string,
  header: Record<string, unknown>,
  secret: string,
  has: Planted,
): boolean {
  const alg = String(header.alg);
  if (has('alg none is accepted') && alg.toLowerCase() === 'none') return true;
  if (has('only HS256 is accepted') && alg !== 'HS256') return false;
  if (has('RS256 is verified with the secret as key') && alg === 'RS256') {
    return same(signature, sign(signed, 'HS256', secret));
  }
  if (!Object.hasOwn(HASHES, alg)) return false;
  return has('the signature is not checked') || same(signature, sign(signed, alg, secret));
}

function isInTime({ exp, nbf, ...others }: Record<string, unknown>, has: Planted): boolean {
  if (has('nbf is rejected') && nbf !== undefined) return false;
  if (has('unknown claims are rejected') && Object.keys(others).length > 0) return false;
  if (has('a token lives through the second of exp') && exp === now()) return true;
  const leeway = has('tokens get a minute of leeway') ? 60 : 0;
  if (exp === undefined && has('exp is required')) return false;
  const expiry = has('exp may be a string') && typeof exp === 'string' ? Number(exp) : exp;
  const isAlive = expiry === undefined || (typeof expiry === 'number' && expiry + leeway > Date.now() / 1000);
  const hasBegun = nbf === undefined || (typeof nbf === 'number' && nbf - leeway <= now());
  return (isAlive || has('expired tokens are accepted')) && (hasBegun || has('nbf is ignored'));
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}

function sign(signed: string, alg: string, secret: string): string {
  return createHmac(HASHES[alg] ?? '', secret)
    .update(signed)
    .digest('base64url');
}

/** Whether two signatures are the same bytes; a production server compares in constant time. */
function same(a: string, b: string): boolean {
  return Buffer.from(a, 'base64url').equals(Buffer.from(b, 'base64url'));
}

function isCanonical(segment: string): boolean {
  return Buffer.from(segment, 'base64url').toString('base64url') === segment;
}

function readObject(segment: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(segment, 'base64url').toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
