import type { IncomingHttpHeaders } from 'node:http';
import { Rejection } from './rejection.ts';

const KEY_LENGTH_MAX = 255;

/**
 * Reads the `Idempotency-Key` of a request (draft-ietf-httpapi-idempotency-key-header-07): a string of structured fields (RFC 9651, section
 * 3.3.3), or the same without quotes, as many clients send it. Undefined when there is none.
 */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | Rejection | undefined {
  const value = headers['idempotency-key'];
  if (value === undefined) return undefined;
  const text = String(value).trim();
  const key = QUOTED.test(text) ? text.slice(1, -1).replaceAll(/\\(.)/g, '$1') : BARE.test(text) ? text : '';
  return key.length >= 1 && key.length <= KEY_LENGTH_MAX ? key : new Rejection('invalidIdempotencyKey');
}

const QUOTED = /^"(?:[ !#-[\]-~]|\\["\\])*"$/;
const BARE = /^[!#-+\--[\]-~]+$/;
