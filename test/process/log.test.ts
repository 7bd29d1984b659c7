import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Connection, request } from '../../testkit/connection.ts';
import { createFolder } from '../../testkit/folder.ts';
import { findFreePort } from '../../testkit/free-port.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'bin', 'bookkeeping.mjs');

const CONNECTIONS = 8;

/** The log lines of these requests exceed the capacity of a pipe several times. */
const MANY = 4_000;

/** Their log lines slightly exceed the capacity of a pipe. */
const ENOUGH = 720;

describe('The log', { concurrency: 2, timeout: 300_000 }, () => {
  test('has whole lines, even if the reader is slow', async () => {
    await using folder = await createFolder();
    const { reader, writer } = await openPipe(folder.path);
    await using service = await startLoggingTo(writer, folder.path);
    await writer.close();
    await waitFor(service);
    await sendRequests(service, MANY);

    let log = '';
    for await (const piece of reader.createReadStream({ encoding: 'utf8' })) {
      log += piece;
      if (log.split('\n').length > MANY) service.process.kill('SIGTERM');
    }
    assert.equal(countRequests(log), MANY);
  });

  test('is written completely at a stop, even if the reader is slow', async () => {
    await using folder = await createFolder();
    const { reader, writer } = await openPipe(folder.path);
    await using service = await startLoggingTo(writer, folder.path);
    await writer.close();
    await waitFor(service);
    await sendRequests(service, ENOUGH);

    // Nothing has been read until now, and a stop waits half a second for its reader.
    const exitCode = endOf(service);
    const log = await text(reader.createReadStream());
    assert.equal(await exitCode, 0);
    assert.equal(countRequests(log), ENOUGH);
  });

  test('drops lines when 16 MiB are buffered', async () => {
    const script = `
      import { openLog } from '${import.meta.resolve('../../src/log/log.ts')}';
      const log = openLog();
      for (let index = 0; index < 40_000; index++) log.write('x'.repeat(1_023) + '\\n');
      process.stderr.write('written');
      process.stdin.once('end', async () => {
        await log.close();
        process.exit();
      }).resume();
    `;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: 'pipe',
    });
    await once(child.stderr, 'data');
    const reading = text(child.stdout);
    await sleep(500);
    child.stdin.end();
    const { length } = await reading;
    assert.ok(length > 0 && length < 17 * 1_024 * 1_024, `${length} bytes`);
  });

  test('does not prevent a stop when the reader does not read', async () => {
    await using folder = await createFolder();
    const { reader, writer } = await openPipe(folder.path);
    await using service = await startLoggingTo(writer, folder.path);
    await writer.close();
    await waitFor(service);
    await sendRequests(service, MANY);

    assert.equal(await endOf(service), 0);
    await reader.close();
  });

  test('does not prevent requests and a stop when it cannot be written', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'log');
    await writeFile(path, '');
    await using log = await open(path, 'r');
    await using service = await startLoggingTo(log, folder.path);
    await waitFor(service);
    await sendRequests(service, MANY);

    assert.equal(await endOf(service), 0);
  });
});

/** A pipe as in a shell. Node gives children sockets, which accept longer blocks atomically. */
async function openPipe(folder: string): Promise<{ reader: FileHandle; writer: FileHandle }> {
  const path = join(folder, 'pipe');
  await promisify(execFile)('mkfifo', [path]);
  const [reader, writer] = await Promise.all([open(path, 'r'), open(path, 'w')]);
  return { reader, writer };
}

interface LoggingService extends AsyncDisposable {
  readonly process: ChildProcess;
  readonly port: number;
  readonly url: string;
}

/** Starts a service that writes its log to a file or a pipe. Disposing kills it. */
async function startLoggingTo(log: FileHandle, folder: string): Promise<LoggingService> {
  const port = await findFreePort();
  const child = spawn(process.execPath, [MAIN], {
    cwd: folder,
    env: { HOST: '127.0.0.1', PORT: `${port}` },
    stdio: ['ignore', log.fd, 'ignore'],
  });
  const exited = once(child, 'exit');
  return {
    process: child,
    port,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Resolves when a service responds. */
async function waitFor({ url }: LoggingService): Promise<void> {
  while (!(await fetch(`${url}/healthz`).catch(() => undefined))) await sleep(20);
}

/** Sends requests, each of which is logged, and awaits the responses. */
async function sendRequests(service: LoggingService, count: number): Promise<void> {
  const countEach = count / CONNECTIONS;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      using connection = await Connection.open(service);
      // Fewer than the pipelined requests that may wait.
      for (let left = countEach; left > 0; left -= 50) {
        await connection.send(request('GET /books').repeat(Math.min(left, 50)));
        for (let index = 0; index < Math.min(left, 50); index++)
          assert.equal((await connection.response()).status, 401);
      }
    }),
  );
}

/** @returns the number of lines about requests of {@link sendRequests}; throws if a line is not JSON */
function countRequests(log: string): number {
  const lines = log.trimEnd().split('\n');
  return lines.filter((line) => (JSON.parse(line) as { route?: string }).route === '/books').length;
}

/** Stops a service. @returns its exit code */
async function endOf({ process: child }: LoggingService): Promise<unknown> {
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const [code] = (await exited) as [unknown];
  return code;
}
