import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createFolder } from '../../testkit/folder.ts';
import { createBook, type ServiceProcess, startService, tokenFrom } from '../../testkit/service-process.ts';

const CONNECTIONS = 128;
const REQUESTS = 20_000;

/** Prints, at the end of the main thread, what its last collections of the young generation have collected and promoted, in bytes. */
const PROFILER = `
  import { writeSync } from 'node:fs';
  import { GCProfiler } from 'node:v8';
  import { isMainThread } from 'node:worker_threads';
  const usedBytes = ({ heapSpaceStatistics }, space) =>
    heapSpaceStatistics.find(({ spaceName }) => spaceName === space).spaceUsedSize;
  if (isMainThread) {
    const profiler = new GCProfiler();
    profiler.start();
    process.once('exit', () => {
      // Until the young generation has its full size, more is promoted.
      const last = profiler.stop().statistics.filter(({ gcType }) => gcType === 'Scavenge').slice(-10);
      const growth = (space) =>
        last.reduce((sum, one) => sum + usedBytes(one.afterGC, space) - usedBytes(one.beforeGC, space), 0);
      writeSync(2, JSON.stringify({ collected: -growth('new_space'), promoted: growth('old_space') }));
    });
  }
`;

test('Hardly anything that 128 concurrent requests need outlives the young generation', async () => {
  await using folder = await createFolder();
  const profiler = `--import=data:text/javascript,${encodeURIComponent(PROFILER)}`;
  await using service = await startService(folder.path, {}, ['--max-semi-space-size=16', profiler]);
  const token = await tokenFrom(service, folder.path);
  const id = await createBook(service, token, 'The Odyssey');
  await sendMany(service, `GET /book/${id} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${token}\r\n\r\n`);
  const { complaints } = await service.stop();

  const [result = ''] = /\{"collected".*\}/.exec(complaints) ?? [];
  const { collected, promoted } = JSON.parse(result) as Record<string, number>;
  assert.ok(Number(collected) > 50_000_000, result);
  assert.ok(Number(promoted) < 0.05 * Number(collected), result);
});

/** Sends a request over each connection, again after each response. */
async function sendMany({ port }: ServiceProcess, request: string): Promise<void> {
  let sent = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      await once(socket, 'connect');
      while (sent++ < REQUESTS) {
        socket.write(request);
        const [response] = (await once(socket, 'data')) as [Buffer];
        assert.equal(response.toString('latin1', 0, 12), 'HTTP/1.1 200');
      }
      socket.destroy();
    }),
  );
}
