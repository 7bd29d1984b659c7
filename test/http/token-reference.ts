import { createHmac } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import { makeToken, readSegment } from '../../conformance/tokens.ts';

const ALGORITHMS = ['HS256', 'HS384', 'HS512'] as const;
const HASHES = ['sha256', 'sha384', 'sha512'] as const;

/** The expected result for a token. */
interface Expected {
  readonly isValid: boolean;
  /** The reason why the service differs from jose, if it does. */
  readonly difference?: string;
}

/** Verifies tokens with jose, and with the documented differences of the service. */
export class Reference {
  readonly #secret: string;
  readonly #currentDate: Date;

  /** @param now the time, in seconds since 1970 */
  constructor(secret: string, now: number) {
    this.#secret = secret;
    this.#currentDate = new Date(now * 1_000);
  }

  async verify(token: string): Promise<Expected> {
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
      // The only extension that jose supports; with the value true it has no effect.
      if (protectedHeader.crit) return { isValid: false, difference: 'the critical extension b64' };
      return { isValid: true };
    } catch (error) {
      const isAboutIat = error instanceof errors.JWTClaimValidationFailed && error.claim === 'iat';
      if (!isAboutIat || !isCanonical(token)) return { isValid: false };
      return { isValid: await this.#isValidWithoutIat(token), difference: 'iat that is no number' };
    }
  }

  /** The service ignores `iat`, so the result is that of the token without it. */
  async #isValidWithoutIat(token: string): Promise<boolean> {
    const [header = '', payload = ''] = token
      .split('.')
      .map((part) => Buffer.from(part, 'base64url').toString());
    const { alg } = JSON.parse(header) as { alg: (typeof ALGORITHMS)[number] };
    const parts = { header, payload: payload.replaceAll('"iat"', '"was"'), signedWith: alg };
    return (await this.verify(makeToken(this.#secret, parts))).isValid;
  }
}

/** Whether a part begins with a byte-order mark, which JSON must not have (RFC 8259, section 8.1). */
function hasByteOrderMark(part: string): boolean {
  return Buffer.from(part, 'base64url').subarray(0, 3).toString('hex') === 'efbbbf';
}

/** Whether a claim is too large for a number. */
function isInfinite(claim: unknown): boolean {
  return claim === Infinity || claim === -Infinity;
}

/** Whether a token is signed with the secret, computed without jose, so that a defect of jose is found, too. */
export function isSigned(secret: string, token: string): boolean {
  const [, signed, signature] = /^([^.]+\.[^.]+)\.([^.]+)$/.exec(token) ?? [];
  const { alg } = (readSegment(token, 0) ?? {}) as { alg?: unknown };
  const hash = HASHES[ALGORITHMS.indexOf(alg as (typeof ALGORITHMS)[number])];
  if (signed === undefined || hash === undefined) return false;
  return createHmac(hash, secret).update(signed).digest('base64url') === signature;
}

/** Whether all parts are canonical base64url (RFC 4648, sections 3.2, 3.3 and 3.5). */
function isCanonical(token: string): boolean {
  return token.split('.').every((part) => /^[\w-]+$/.test(part) && isDecodable(part));
}

function isDecodable(part: string): boolean {
  // A strict decoder needs the padding, which tokens do not have.
  const padded = part.padEnd(Math.ceil(part.length / 4) * 4, '=');
  try {
    return Uint8Array.fromBase64(padded, { alphabet: 'base64url', lastChunkHandling: 'strict' }).length > 0;
  } catch {
    return false;
  }
}
