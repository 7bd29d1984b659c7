import type { FastifyReply } from 'fastify';

/** Whether a response is sent, or its client has disconnected. */
export function isClosed({ raw }: FastifyReply): boolean {
  return raw.closed;
}

/** Calls a function when a response is sent, or its client has disconnected, perhaps at once. */
export function onClose({ raw }: FastifyReply, closed: (isSent: boolean) => void): void {
  const close = () => closed(raw.writableFinished);
  if (raw.closed) close();
  else raw.once('close', close);
}

/** Whether the operating system has all bytes that a response was given, so that their memory is no longer needed. */
export function isWritten({ raw }: FastifyReply): boolean {
  // Until a pipelined response has its turn, it has no socket.
  return !raw.destroyed && raw.socket !== null && raw.writableLength === 0;
}

/** Sends 100 Continue, unless the request is HTTP/1.0, which does not have it (RFC 9110, section 10.1.1). */
export function sendContinue({ raw }: FastifyReply): void {
  if (raw.req.httpVersionMinor > 0) raw.writeContinue();
}
