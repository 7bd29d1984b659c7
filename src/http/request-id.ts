import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** The header that tells which line of the log an answer belongs to. Other services and proxies use the same. */
export const REQUEST_ID_HEADER = 'x-request-id';

/**
 * An id that a client may choose: what others use for theirs, such as UUIDs, and nothing that begins as tokens do, as
 * ids are logged. Header lines that are repeated arrive joined with a comma and a space, which makes them none.
 */
const SANE_ID = /^(?!eyJ)[\w.:=+/@~-]{1,128}$/;

/** Ids of this process: no other process begins them with the same 48 random bits. */
const PREFIX = randomBytes(6).toString('hex');
let given = 0;

/** A new id, which no other request has, here or elsewhere. */
export function newRequestId(): string {
  given++;
  return `${PREFIX}-${given.toString(36)}`;
}

/** The id of a request: its client's, where that is sane, and a new one otherwise. */
export function requestIdOf({ headers }: { readonly headers: IncomingHttpHeaders }): string {
  const chosen = headers[REQUEST_ID_HEADER];
  return typeof chosen === 'string' && SANE_ID.test(chosen) ? chosen : newRequestId();
}

/** Has every answer tell the id of its request. */
export function tellRequestIds(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, pass) => {
    reply.header(REQUEST_ID_HEADER, request.id);
    pass();
  });
}
