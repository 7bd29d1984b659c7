import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * An HTTP proxy that alters each entity tag as proxies do that compress the responses.
 *
 * @param before what it puts before the tag, such as `W/`
 * @param after what it puts before the last quote, such as `-gzip`
 */
export async function startAlteringProxy(target: string, before: string, after: string) {
  /** The tags that it has sent. */
  const tags = new Set<string>();
  const server = createServer((incoming, outgoing) => {
    const { method, headers } = incoming;
    const forwarded = request(`${target}${incoming.url}`, { method, headers }, (response) => {
      const { etag } = response.headers;
      const altered = etag && `${before}${etag.slice(0, -1)}${after}"`;
      if (altered) tags.add(altered);
      outgoing.writeHead(response.statusCode ?? 502, {
        ...response.headers,
        ...(altered && { etag: altered }),
      });
      response.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tags,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
