import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export const REQUEST_ID_HEADER = 'x-request-id';

/** Ids are logged, so none may begin like a token. Repeated headers are joined with ", ", which no valid id contains. */
const VALID_ID = /^(?!eyJ)[\w.:=+/@~-]{1,128}$/;

/** 48 random bits make the ids of this process unique. */
const PREFIX = randomBytes(6).toString('hex');
let count = 0;

/** An id that no other request of this process has, nor one of another process in all likelihood. */
export function newRequestId(): string {
  count++;
  return `${PREFIX}-${count.toString(36)}`;
}

/** The id of a request: its client's if that is valid, or a new one. */
export function requestIdOf({ headers }: { readonly headers: IncomingHttpHeaders }): string {
  const chosen = headers[REQUEST_ID_HEADER];
  return typeof chosen === 'string' && VALID_ID.test(chosen) ? chosen : newRequestId();
}
