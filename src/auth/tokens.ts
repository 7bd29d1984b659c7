import { type CompactVerifyResult, compactVerify, errors, SignJWT } from 'jose';
import type { Secret } from '../config/secret.ts';

/** How long an issued token is good (specification, "Limits"). */
export const TOKEN_LIFETIME_SECONDS = 15 * 60;

/** The HMAC algorithms of RFC 7518, section 3.2; tokens are issued with the first. */
const ALGORITHMS = ['HS256', 'HS384', 'HS512'];

/** A verification takes jose some 70 µs, so it is done once a token. Beyond this many, the oldest is forgotten. */
const VERIFIED_TOKENS_MAX = 10_000;
const VERIFIED_TOKEN_LENGTH_MAX = 1_024;

/** Issues signed tokens and verifies them (RFC 7519, RFC 7515). */
export class Tokens {
  readonly #key: Uint8Array;
  readonly #previousKey: Uint8Array | undefined;
  readonly #now: () => number;
  /** Verified tokens with the time at which they expire, in milliseconds since 1970. */
  readonly #verified = new Map<string, number>();
  #hits = 0;
  #misses = 0;

  /**
   * @param secret the key of the HMAC; with an empty one nothing is ever signed or verified
   * @param now the clock, in milliseconds since 1970
   * @param previous another key that tokens may be signed with, while one key takes the place of the other
   */
  constructor(secret: Secret, now: () => number, previous?: Secret) {
    this.#key = new TextEncoder().encode(secret.reveal());
    this.#previousKey = previous && new TextEncoder().encode(previous.reveal());
    this.#now = now;
  }

  /**
   * A new token: HS256, with the single claim `exp`.
   *
   * @param lifetimeSeconds how long it is good
   * @throws Error when it cannot be signed
   */
  async issue(lifetimeSeconds = TOKEN_LIFETIME_SECONDS): Promise<string> {
    this.#expectKey();
    const exp = Math.floor(this.#now() / 1_000) + lifetimeSeconds;
    return new SignJWT({ exp }).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).sign(this.#key);
  }

  /** How often a token that was to be verified had been verified before, and how often not. */
  get cache(): { readonly hits: number; readonly misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }

  /** Whether a token is valid at this moment. The answer is immediate for one that was verified before. */
  verify(token: string): boolean | Promise<boolean> {
    const expiresAt = this.#verified.get(token);
    if (expiresAt === undefined) {
      this.#misses++;
      return this.#verifyAnew(token);
    }
    this.#hits++;
    if (expiresAt > this.#now()) return true;
    this.#verified.delete(token);
    return false;
  }

  async #verifyAnew(token: string): Promise<boolean> {
    if (!isCanonical(token)) return false;
    let claims: Record<string, unknown>;
    try {
      this.#expectKey();
      const { payload } = await this.#open(token);
      const [header = ''] = token.split('.', 1);
      // None of the extensions that a header may declare critical is known here (RFC 7515, section 4.1.11).
      if (readObject(Buffer.from(header, 'base64url')).crit !== undefined) return false;
      claims = readObject(payload);
    } catch {
      return false;
    }
    const { exp = Number.MAX_VALUE, nbf = -Number.MAX_VALUE } = claims;
    if (!isFiniteNumber(exp) || !isFiniteNumber(nbf) || nbf * 1_000 > this.#now()) return false;
    const expiresAt = exp * 1_000;
    if (expiresAt <= this.#now()) return false;
    this.#remember(token, expiresAt);
    return true;
  }

  /** @throws Error when a token is malformed, or signed with neither key */
  async #open(token: string): Promise<CompactVerifyResult> {
    const options = { algorithms: ALGORITHMS };
    try {
      return await compactVerify(token, this.#key, options);
    } catch (error) {
      const isOtherKey = error instanceof errors.JWSSignatureVerificationFailed;
      if (!isOtherKey || !this.#previousKey?.length) throw error;
      return compactVerify(token, this.#previousKey, options);
    }
  }

  #remember(token: string, expiresAt: number): void {
    if (token.length > VERIFIED_TOKEN_LENGTH_MAX) return;
    this.#verified.set(token, expiresAt);
    if (this.#verified.size <= VERIFIED_TOKENS_MAX) return;
    for (const oldest of this.#verified.keys()) {
      this.#verified.delete(oldest);
      break;
    }
  }

  #expectKey(): void {
    if (this.#key.length === 0) throw new Error('an empty key signs nothing and verifies nothing');
  }
}

/**
 * Whether a token is three parts of base64url (RFC 7515, section 3.1) in the one form that encoding gives. Decoders
 * skip foreign characters and ignore spare bits, so that many texts would count as one token.
 */
function isCanonical(token: string): boolean {
  const parts = token.split('.', 4);
  return (
    parts.length === 3 &&
    parts.every((part) => part !== '' && Buffer.from(part, 'base64url').toString('base64url') === part)
  );
}

/**
 * The header or the claims of a token (RFC 7515, section 4; RFC 7519, section 4).
 *
 * @throws Error when the bytes are not a JSON object in UTF-8 without a byte-order mark
 */
function readObject(bytes: Uint8Array): Record<string, unknown> {
  const value: unknown = JSON.parse(utf8.decode(bytes));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not an object');
  return value as Record<string, unknown>;
}

/** Rejects what is not UTF-8, and keeps a byte-order mark, so that `JSON.parse` rejects it; jose accepts it in a header. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** `JSON.parse` reads a number that is too large, such as `1e400`, as infinite. */
function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
