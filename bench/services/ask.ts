import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { TOKEN } from './credentials.ts';

/** What a server answers. */
export interface Reply {
  readonly status: number;
  readonly text: string;
}

/**
 * Sends one request, `METHOD PATH [BODY]`, with a token on a connection of its own.
 *
 * @throws Error when there is no answer
 */
export async function ask(url: string, line: string): Promise<Reply> {
  const [, method = '', path = '', body = ''] = /^(\S+) (\S+) ?(.*)$/.exec(line) ?? [];
  const headers = {
    authorization: TOKEN,
    'content-length': Buffer.byteLength(body),
    ...(body !== '' && { 'content-type': 'application/json' }),
  };
  const asking = request(new URL(path, url), { method, agent: false, headers }).end(body);
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, text: await text(response) };
}
