import { createHmac } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import { makeToken, readSegment } from '../../conformance/tokens.ts';

const ALGORITHMS = ['HS256', 'HS384', 'HS512'] as const;
const HASHES = ['sha256', 'sha384', 'sha512'] as const;

/** What is to become of a token. */
export interface Verdict {
  readonly isValid: boolean;
  /** Why it is not jose's own verdict, where it is not. */
  readonly difference?: string;
}

/** The verdict of jose itself, on its own way, and where this service has decided otherwise. */
export class Judge {
  readonly #secret: string;
  readonly #currentDate: Date;

  /** @param now the time, in seconds since 1970 */
  constructor(secret: string, now: number) {
    this.#secret = secret;
    this.#currentDate = new Date(now * 1_000);
  }

  async judge(token: string): Promise<Verdict> {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, new TextEncoder().encode(this.#secret), {
        algorithms: [...ALGORITHMS],
        currentDate: this.#currentDate,
      });
      if (!isCanonical(token)) return { isValid: false, difference: 'base64url that is not canonical' };
      if (token.split('.').slice(0, 2).some(hasByteOrderMark))
        return { isValid: false, difference: 'a byte-order mark' };
      const { exp, nbf } = payload as { readonly exp?: unknown; readonly nbf?: unknown };
      if (isInfinite(exp) || isInfinite(nbf))
        return { isValid: false, difference: 'a time beyond all numbers' };
      // The one extension that jose knows, and that changes nothing where it is true.
      if (protectedHeader.crit) return { isValid: false, difference: 'the critical extension b64' };
      return { isValid: true };
    } catch (error) {
      const isAboutIat = error instanceof errors.JWTClaimValidationFailed && error.claim === 'iat';
      if (!isAboutIat || !isCanonical(token)) return { isValid: false };
      return { isValid: await this.#isValidWithoutIat(token), difference: 'iat that is no number' };
    }
  }

  /** Nobody here asks when a token was issued, so it counts as if it did not say. */
  async #isValidWithoutIat(token: string): Promise<boolean> {
    const [header = '', payload = ''] = token
      .split('.')
      .map((part) => Buffer.from(part, 'base64url').toString());
    const { alg } = JSON.parse(header) as { alg: (typeof ALGORITHMS)[number] };
    const parts = { header, payload: payload.replaceAll('"iat"', '"was"'), signedWith: alg };
    return (await this.judge(makeToken(this.#secret, parts))).isValid;
  }
}

/** Whether a part begins with the bytes that JSON in UTF-8 must not begin with (RFC 8259, section 8.1). */
function hasByteOrderMark(part: string): boolean {
  return Buffer.from(part, 'base64url').subarray(0, 3).toString('hex') === 'efbbbf';
}

/** Whether a claim was too large to be read as a number. */
function isInfinite(claim: unknown): boolean {
  return claim === Number.POSITIVE_INFINITY || claim === Number.NEGATIVE_INFINITY;
}

/** Whether a token is signed by who knows the secret: computed by hand, so that no fault of jose's stays unseen. */
export function isSigned(secret: string, token: string): boolean {
  const [, signed, signature] = /^([^.]+\.[^.]+)\.([^.]+)$/.exec(token) ?? [];
  const { alg } = (readSegment(token, 0) ?? {}) as { alg?: unknown };
  const hash = HASHES[ALGORITHMS.indexOf(alg as (typeof ALGORITHMS)[number])];
  if (signed === undefined || hash === undefined) return false;
  return createHmac(hash, secret).update(signed).digest('base64url') === signature;
}

/** Whether all parts are base64url in the one form that encoding gives (RFC 4648, sections 3.2, 3.3 and 3.5). */
function isCanonical(token: string): boolean {
  return token.split('.').every((part) => /^[\w-]+$/.test(part) && isDecodable(part));
}

function isDecodable(part: string): boolean {
  // Strict decoders want the padding, which tokens do not have.
  const padded = part.padEnd(Math.ceil(part.length / 4) * 4, '=');
  try {
    return Uint8Array.fromBase64(padded, { alphabet: 'base64url', lastChunkHandling: 'strict' }).length > 0;
  } catch {
    return false;
  }
}
