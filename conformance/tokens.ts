import { createHmac } from 'node:crypto';

const HASHES = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' } as const;

/** How to make a token; whatever is left out is as it should be. */
export interface TokenParts {
  /** The header (JSON when it is no string). */
  readonly header?: unknown;
  /** The payload (JSON when it is no string). */
  readonly payload?: unknown;
  /** The algorithm the signature is really made with. */
  readonly signedWith?: keyof typeof HASHES;
  /** Turns header and payload into segments. */
  readonly encode?: (text: string) => string;
}

/** Makes a token by hand (RFC 7515, section 7.1), so that every part of it can be wrong. */
export function makeToken(key: string, parts: TokenParts): string {
  const { signedWith = 'HS256', encode = encodeBase64url } = parts;
  const { header = { alg: signedWith, typ: 'JWT' }, payload = {} } = parts;
  const signed = `${encode(asText(header))}.${encode(asText(payload))}`;
  return `${signed}.${createHmac(HASHES[signedWith], key).update(signed).digest('base64url')}`;
}

/** The header or the payload of a token: any JSON value, or undefined when it is none. */
export function readSegment(token: string, index: 0 | 1): unknown {
  try {
    return JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString());
  } catch {
    return undefined;
  }
}

/** Sets a spare bit of the last character: the same bytes to a lenient reader, and not canonical (RFC 4648, 3.5). */
export function withSpareBit(base64url: string): string {
  const last = ALPHABET.indexOf(base64url.at(-1) ?? '');
  return `${base64url.slice(0, -1)}${ALPHABET[last ^ 1] ?? ''}`;
}

/** Text as the last segment of a token would carry it. */
export function encodeBase64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
