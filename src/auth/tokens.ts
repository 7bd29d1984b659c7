import { createHmac, timingSafeEqual } from 'node:crypto';
import { Invalid } from '../json/invalid.ts';
import { isObject } from '../json/json-object.ts';
import { parseJson } from '../json/parse-json.ts';
import type { Secret } from '../secret.ts';

/** The lifetime of issued tokens (specification, "Limits"). */
export const TOKEN_LIFETIME_SECONDS = 15 * 60;

/** The time after a sign-in in which tokens are renewed: a day of work. It bounds what a stolen token is good for. */
export const RENEWAL_SECONDS_MAX = 12 * 60 * 60;

/** The HMAC algorithms of RFC 7518, section 3.2, and their hashes. */
const HASHES = new Map<unknown, string>([
  ['HS256', 'sha256'],
  ['HS384', 'sha384'],
  ['HS512', 'sha512'],
]);

/** The cache of verified tokens: verifying one takes 10 µs. */
const VERIFIED_TOKENS_MAX = 10_000;

/** Whether a token is valid, for everything or for reading, or why not; only one that is signed with the secret can be `expired`. */
export type TokenVerdict = 'valid' | 'read-only' | 'expired' | 'wrong signature' | 'invalid';

/** The claim `scope` of a read-only token. Any other value means nothing. */
export const READ_SCOPE = 'read';
export type TokenScope = typeof READ_SCOPE;

/** Issues signed tokens and verifies them (RFC 7519, RFC 7515). */
export class Tokens {
  /** The key that signs, then one that only verifies; none of them is empty, so there may be none. */
  readonly #keys: readonly string[];
  readonly #now: () => number;
  /** Verified tokens with the time at which they expire, in milliseconds since 1970. */
  readonly #verified = new Map<string, { readonly expiresAt: number; readonly verdict: TokenVerdict }>();
  readonly cache = { hits: 0, misses: 0 };

  /** @param previous a key that only verifies, during a rotation */
  constructor(secret: Secret, now: () => number, previous?: Secret) {
    const key = secret.reveal();
    this.#keys = key === '' ? [] : [key, previous?.reveal() ?? ''].filter((text) => text !== '');
    this.#now = now;
  }

  /** Issues a token: HS256, with the claim `exp`, and `scope` if it is given. @throws Error when the key is empty */
  issue(lifetimeSeconds = TOKEN_LIFETIME_SECONDS, scope?: TokenScope): string {
    return this.#sign({ ...this.#expiry(lifetimeSeconds), ...(scope && { scope }) });
  }

  /**
   * Issues a token with the scope of another one, as long as it is {@link RENEWAL_SECONDS_MAX} since the sign-in. That is the claim
   * `auth_time`; a token of a sign-in has none, but ends {@link TOKEN_LIFETIME_SECONDS} after it.
   *
   * @param token one that {@link verify} accepts
   * @returns Invalid when it is later, or the time of the sign-in is unknown
   */
  renew(token: string): string | Invalid {
    const { exp, auth_time: signIn = Number(exp) - TOKEN_LIFETIME_SECONDS, scope } = claimsOf(token);
    if (exp === undefined) return new Invalid('a token without exp cannot be renewed');
    if (!Number.isFinite(signIn)) return new Invalid('auth_time must be a number');
    if ((Number(signIn) + RENEWAL_SECONDS_MAX) * 1_000 <= this.#now())
      return new Invalid('sign in again: tokens are renewed for 12 hours');
    const claims = { ...this.#expiry(TOKEN_LIFETIME_SECONDS), auth_time: signIn };
    return this.#sign(scope === READ_SCOPE ? { ...claims, scope } : claims);
  }

  #expiry(lifetimeSeconds: number): { readonly exp: number } {
    return { exp: Math.floor(this.#now() / 1_000) + lifetimeSeconds };
  }

  /** @throws Error when the key is empty */
  #sign(claims: object): string {
    const [key] = this.#keys;
    if (key === undefined) throw new Error('an empty key does not sign');
    const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
    return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
  }

  /** Whether a token is valid now. */
  verify(token: string): TokenVerdict {
    const verified = this.#verified.get(token);
    if (!verified) {
      this.cache.misses++;
      return this.#verifyUncached(token);
    }
    this.cache.hits++;
    if (verified.expiresAt > this.#now()) return verified.verdict;
    this.#verified.delete(token);
    return 'expired';
  }

  #verifyUncached(token: string): TokenVerdict {
    const [header, payload, signature] = decodeParts(token) ?? [];
    if (!header || !payload || !signature) return 'invalid';
    let claims: Record<string, unknown>;
    try {
      const { alg, crit } = readObject(header);
      const hash = HASHES.get(alg);
      // No critical extension is supported (RFC 7515, section 4.1.11).
      if (hash === undefined || crit !== undefined) return 'invalid';
      const signed = token.slice(0, token.lastIndexOf('.'));
      const isSignedWith = (key: string) => isEqual(createHmac(hash, key).update(signed).digest(), signature);
      if (!this.#keys.some(isSignedWith)) return 'wrong signature';
      claims = readObject(payload);
    } catch {
      return 'invalid';
    }
    const { exp = Number.MAX_VALUE, nbf = -Number.MAX_VALUE } = claims;
    // `JSON.parse` reads `1e400` as infinite.
    if (![exp, nbf].every(Number.isFinite) || Number(nbf) * 1_000 > this.#now()) return 'invalid';
    const expiresAt = Number(exp) * 1_000;
    if (expiresAt <= this.#now()) return 'expired';
    const verdict = claims.scope === READ_SCOPE ? 'read-only' : 'valid';
    this.#keep(token, expiresAt, verdict);
    return verdict;
  }

  #keep(token: string, expiresAt: number, verdict: TokenVerdict): void {
    this.#verified.set(token, { expiresAt, verdict });
    if (this.#verified.size <= VERIFIED_TOKENS_MAX) return;
    const [oldest = ''] = this.#verified.keys();
    this.#verified.delete(oldest);
  }
}

/** The claim `scope` of a token, which is not verified; undefined for another text. */
export function scopeOf(token: string): unknown {
  return claimsOf(token).scope;
}

/** The claims of a token, which are not verified; none of another text. */
function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    return readObject(Buffer.from(token.split('.', 2)[1] ?? '', 'base64url'));
  } catch {
    return {};
  }
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

/** The three parts of a token in canonical base64url (RFC 7515, section 3.1); Node's decoder accepts other forms as well. */
function decodeParts(token: string): Buffer[] | undefined {
  const parts = token.split('.', 4);
  const decoded = parts.map((part) => Buffer.from(part, 'base64url'));
  const isCanonical = parts.every(
    (part, index) => part !== '' && decoded[index]?.toString('base64url') === part,
  );
  return parts.length === 3 && isCanonical ? decoded : undefined;
}

/** In constant time. */
function isEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Reads a header or claims. @throws Error when the bytes are not a JSON object that {@link parseJson} takes */
function readObject(bytes: Uint8Array): Record<string, unknown> {
  const json = parseJson(bytes);
  if (typeof json === 'string' || !isObject(json.value)) throw new Error('not an object');
  return json.value;
}
