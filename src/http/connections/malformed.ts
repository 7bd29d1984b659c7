import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OutcomeName } from '../outcomes.ts';
import { send } from '../response.ts';

/** A hook that rejects what the parser and the router accept, but the service does not. */
export function rejectMalformed(request: FastifyRequest, reply: FastifyReply, pass: () => void): void {
  const error = protocolViolation(request);
  if (error) send(reply, { outcome: error });
  else pass();
}

function protocolViolation({ raw, params }: FastifyRequest): OutcomeName | undefined {
  if (isMalformed(raw)) return 'badRequest';
  const { expect } = raw.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') return 'expectationFailed';
  // The router takes `/book/` for a book without an id.
  if ((params as { id?: string }).id === '') return 'notFound';
  return undefined;
}

/**
 * Whether a request is not HTTP 1.0 or 1.1, is framed in a way that an intermediary may have read differently (RFC 9112,
 * section 6.1), or does not have exactly one well-formed Host (section 3.2). Repeated headers are joined with commas.
 */
function isMalformed({ method, httpVersionMajor, httpVersionMinor, headers }: IncomingMessage): boolean {
  const { host, 'transfer-encoding': coding } = headers;
  if (httpVersionMajor !== 1 || method === UNSUPPORTED_METHOD) return true;
  if (coding !== undefined && (httpVersionMinor === 0 || coding.toLowerCase() !== 'chunked')) return true;
  return host === undefined ? httpVersionMinor === 1 : NOT_IN_HOST.test(host);
}

/** A method that the router knows, and the parser accepts with the protocol of Icecast only. */
export const UNSUPPORTED_METHOD = 'SOURCE';

/** Characters that no host name or address has (RFC 3986, section 3.2.2); commas are valid, but not in use. */
const NOT_IN_HOST = /[^\w.:~%!$&'()*+;=[\]-]/;
