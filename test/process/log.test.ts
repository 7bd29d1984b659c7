import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Connection, request } from '../http/connection.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { createDatabase } from '../support/postgres.ts';
import { findAnswering, NAMING_PROCESSES } from './worker-processes.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');

const CONNECTIONS = 8;

/** So many requests have lines that are several times what a pipe holds. */
const MANY = 4_000;

/** So many have lines that are a little more than that. */
const ENOUGH = 720;

describe('The log', { concurrency: 2, timeout: 120_000 }, () => {
  test('of several workers is whole lines, also when their reader is late', async () => {
    await using folder = await createFolder();
    await using database = await createDatabase();
    const { reader, writer } = await openPipe(folder.path);
    await using service = await startLoggingTo(writer, folder.path, { DB_URL: database.url, WORKERS: '2' });
    await writer.close();
    await findAnswering(service.url, 2);
    await sendRequests(service, MANY);

    let log = '';
    for await (const piece of reader.createReadStream({ encoding: 'utf8' })) {
      log += piece;
      if (log.split('\n').length > MANY) service.process.kill('SIGTERM');
    }
    assert.equal(countRequests(log), MANY);
  });

  test('is written to its end, also when its reader is late', async () => {
    await using folder = await createFolder();
    const { reader, writer } = await openPipe(folder.path);
    await using service = await startLoggingTo(writer, folder.path);
    await writer.close();
    await findAnswering(service.url, 1);
    await sendRequests(service, ENOUGH);

    const isEnded = endOf(service);
    await sleep(200);
    const log = await text(reader.createReadStream());
    assert.equal(await isEnded, 0);
    assert.equal(countRequests(log), ENOUGH);
  });

  test('loses lines when 16 MiB wait for their reader', async () => {
    const script = `
      import { openLog } from '${import.meta.resolve('../../src/log/log.ts')}';
      const log = openLog({ isShared: false });
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

  test('does not keep a service from ending when nobody reads it', async () => {
    await using folder = await createFolder();
    const { reader, writer } = await openPipe(folder.path);
    await using service = await startLoggingTo(writer, folder.path);
    await writer.close();
    await findAnswering(service.url, 1);
    await sendRequests(service, MANY);

    assert.equal(await endOf(service), 0);
    await reader.close();
  });

  test('does not keep a service from serving and ending when it cannot be written', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'log');
    await writeFile(path, '');
    await using log = await open(path, 'r');
    await using service = await startLoggingTo(log, folder.path);
    await findAnswering(service.url, 1);
    await sendRequests(service, MANY);

    assert.equal(await endOf(service), 0);
  });
});

/** A pipe, as shells have them: what Node gives to children are sockets, which take longer blocks in one piece. */
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

/** Starts a service whose log goes to a file or a pipe. Disposing kills it. */
async function startLoggingTo(
  log: FileHandle,
  folder: string,
  variables: Record<string, string> = {},
): Promise<LoggingService> {
  const port = await findFreePort();
  const child = spawn(process.execPath, [...NAMING_PROCESSES, MAIN], {
    cwd: folder,
    env: { HOST: '127.0.0.1', PORT: `${port}`, ...variables },
    stdio: ['ignore', log.fd, 'ignore'],
  });
  const isGone = once(child, 'exit');
  return {
    process: child,
    port,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await isGone;
    },
  };
}

/** Sends requests, each of which has a line in the log, and resolves when all are answered. */
async function sendRequests(service: LoggingService, count: number): Promise<void> {
  const countEach = count / CONNECTIONS;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      using connection = await Connection.open(service);
      await connection.send(request('GET /books').repeat(countEach));
      for (let index = 0; index < countEach; index++) {
        assert.equal((await connection.answer()).status, 401);
      }
    }),
  );
}

/** @returns how many lines tell of a request that {@link sendRequests} sent; every line has to be whole */
function countRequests(log: string): number {
  const lines = log.trimEnd().split('\n');
  return lines.filter((line) => (JSON.parse(line) as { route?: string }).route === '/books').length;
}

/** Asks a service to end. @returns its exit code */
async function endOf({ process: child }: LoggingService): Promise<unknown> {
  const isGone = once(child, 'exit');
  child.kill('SIGTERM');
  const [code] = (await isGone) as [unknown];
  return code;
}
