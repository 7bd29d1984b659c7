import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A loopback port that nobody listens on. It lies below the range from which systems take the ports of outgoing
 * connections, so nothing takes it by chance while its owner is stopped.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
      return port;
    } catch {
      // Taken: try another.
    } finally {
      server.close();
    }
  }
}
