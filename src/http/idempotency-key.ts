const KEY_LENGTH_MAX = 255;

/**
 * Reads an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07): a string of structured fields (RFC 9651, section
 * 3.3.3), or the same without quotes, as many clients send it. Null when it is malformed.
 */
export function readIdempotencyKey(value: string | string[] | undefined): string | null | undefined {
  if (value === undefined) return undefined;
  const text = String(value).trim();
  const key = QUOTED.test(text) ? text.slice(1, -1).replaceAll(/\\(.)/g, '$1') : BARE.test(text) ? text : '';
  return key.length >= 1 && key.length <= KEY_LENGTH_MAX ? key : null;
}

const QUOTED = /^"(?:[ !#-[\]-~]|\\["\\])*"$/;
const BARE = /^[!#-+\--[\]-~]+$/;
