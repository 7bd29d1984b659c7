import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The header with the id of a request, which is also in its log line. */
export const REQUEST_ID_HEADER = 'x-request-id';

/**
 * An id that a client may choose, such as a UUID. Ids are logged, so none may begin like a token. Repeated headers are
 * joined with a comma and a space, which is no valid id.
 */
const VALID_ID = /^(?!eyJ)[\w.:=+/@~-]{1,128}$/;

/** The prefix of the ids of this process: 48 random bits. */
const PREFIX = randomBytes(6).toString('hex');
let count = 0;

/** A new id, unique across processes. */
export function newRequestId(): string {
  count++;
  return `${PREFIX}-${count.toString(36)}`;
}

/** The id of a request: its client's if that is valid, or a new one. */
export function requestIdOf({ headers }: { readonly headers: IncomingHttpHeaders }): string {
  const chosen = headers[REQUEST_ID_HEADER];
  return typeof chosen === 'string' && VALID_ID.test(chosen) ? chosen : newRequestId();
}
