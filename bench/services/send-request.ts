import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { TOKEN } from './credentials.ts';

export interface Response {
  readonly status: number;
  readonly text: string;
}

/** Sends a request, `METHOD PATH [BODY]`, with a token, on a new connection. @throws Error when there is no response */
export async function sendRequest(url: string, line: string): Promise<Response> {
  const [, method = '', path = '', body = ''] = /^(\S+) (\S+) ?(.*)$/.exec(line) ?? [];
  const headers = {
    authorization: TOKEN,
    'content-length': Buffer.byteLength(body),
    ...(body !== '' && { 'content-type': 'application/json' }),
  };
  const pending = request(new URL(path, url), { method, agent: false, headers }).end(body);
  const [response] = (await once(pending, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, text: await text(response) };
}
