import { createHmac } from 'node:crypto';

const HASHES = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' } as const;

/** How to make a token; every default is valid. */
export interface TokenParts {
  /** The header: JSON, or a string as it is. */
  readonly header?: unknown;
  /** The payload: JSON, or a string as it is. */
  readonly payload?: unknown;
  /** The algorithm of the signature, whatever the header says. */
  readonly signedWith?: keyof typeof HASHES;
  /** Encodes header and payload as segments. */
  readonly encode?: (text: string) => string;
}

/** Makes a token (RFC 7515, section 7.1) of which every part may be invalid. */
export function makeToken(key: string, parts: TokenParts = {}): string {
  const { signedWith = 'HS256', encode = encodeBase64url } = parts;
  const { header = { alg: signedWith, typ: 'JWT' }, payload = {} } = parts;
  const signed = `${encode(asText(header))}.${encode(asText(payload))}`;
  return `${signed}.${createHmac(HASHES[signedWith], key).update(signed).digest('base64url')}`;
}

/** The header or the payload of a token, or undefined when it is not JSON. */
export function readSegment(token: string, index: 0 | 1): unknown {
  try {
    return JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString());
  } catch {
    return undefined;
  }
}

/** Sets a padding bit of the last character: not canonical, though lenient decoders accept it (RFC 4648, 3.5). */
export function withSpareBit(base64url: string): string {
  const last = ALPHABET.indexOf(base64url.at(-1) ?? '');
  return `${base64url.slice(0, -1)}${ALPHABET[last ^ 1] ?? ''}`;
}

/** Text as a segment of a token. */
export function encodeBase64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
