import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify, stripVTControlCharacters } from 'node:util';
import { createFolder } from '../../testkit/folder.ts';
import {
  readEnvironmentFile,
  type ServiceProcess,
  startService,
  type Variables,
} from '../../testkit/service-process.ts';
import { ROOT } from '../project/files.ts';

/** Options of `node` that make its standard output look like a terminal. */
const ON_TERMINAL = [
  '--import',
  `data:text/javascript,import { WriteStream } from 'node:tty';
  const { getColorDepth } = WriteStream.prototype;
  Object.assign(process.stdout, { isTTY: true, getColorDepth });`,
];

/** Replaces curl, which may not be installed, and npx, which works in a clone. */
const COMMANDS = ['curl() { "$NODE" "$CURL" "$@"; }', 'npx() { shift; "$NODE" "$BOOKKEEPING" "$@"; }'];

/** Awaits the complete startup message. */
async function startupMessageOf(service: ServiceProcess): Promise<string> {
  while (!/Authorization: .*\n/.test(service.output)) await new Promise(setImmediate);
  return service.output;
}

/** Runs the commands of the startup message in a shell. @returns their output */
async function runCommands(message: string, folder: string, variables: Variables): Promise<string> {
  const commands = message.split('\n').filter((line) => /TOKEN=|curl/.test(line));
  const { stdout } = await promisify(execFile)('sh', ['-euc', [...COMMANDS, ...commands].join('\n')], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      NODE: process.execPath,
      CURL: join(import.meta.dirname, 'curl.ts'),
      BOOKKEEPING: join(ROOT, 'bin/bookkeeping.mjs'),
      ...variables,
    },
  });
  return stdout;
}

const NO_BOOKS = '{"status":200,"message":"Books retrieved successfully","data":[]}';

describe('The commands of the startup message on a terminal work', { concurrency: 2 }, () => {
  test('with generated credentials, in the same folder', async () => {
    await using folder = await createFolder();
    await using service = await startService(folder.path, {}, ON_TERMINAL);
    const message = await startupMessageOf(service);

    assert.ok(
      message.includes(` Open ${service.url}/ and sign in with the username and password in .env\n`),
      message,
    );
    assert.ok(message.includes(` ${service.url}/docs\n`));
    assert.equal(await runCommands(message, folder.path, {}), NO_BOOKS);
    const { AUTH_PASSWORD = '', SECRET_TOKEN = '' } = await readEnvironmentFile(folder.path);
    assert.ok(!message.includes(AUTH_PASSWORD) && !message.includes(SECRET_TOKEN));
  });

  test('with credentials of the environment', async () => {
    await using folder = await createFolder();
    const credentials = { AUTH_USERNAME: 'librarian', AUTH_PASSWORD: 'hunter 2' };
    await using service = await startService(folder.path, credentials, ON_TERMINAL);

    const message = await startupMessageOf(service);

    assert.match(message, / the username librarian and the password AUTH_PASSWORD in the environment\n/);
    assert.equal(await runCommands(message, folder.path, credentials), NO_BOOKS);
  });

  test('with a username of the environment and a generated password', async () => {
    await using folder = await createFolder();
    await using service = await startService(folder.path, { AUTH_USERNAME: 'librarian' }, ON_TERMINAL);

    const message = await startupMessageOf(service);

    assert.match(message, / the username librarian and the password AUTH_PASSWORD in \.env\n/);
    assert.equal(await runCommands(message, folder.path, {}), NO_BOOKS);
  });
});

describe('The log on a terminal is formatted,', { concurrency: 2 }, () => {
  for (const [how, variables, isColoured] of [
    ['in colour', { FORCE_COLOR: '1' }, true],
    ['without colour if NO_COLOR is set', { NO_COLOR: '1' }, false],
  ] as const) {
    test(how, async () => {
      await using folder = await createFolder();
      await using service = await startService(folder.path, variables, ON_TERMINAL);
      assert.equal((await fetch(`${service.url}/nowhere`)).status, 404);
      const { output } = await service.stop();
      const lines = output
        .split('\n')
        .filter((line) => /^\d\d:\d\d:\d\d /.test(stripVTControlCharacters(line)));
      assert.deepEqual(
        lines.map((line) => / (listening|404|stopping)\b/.exec(line)?.[1]),
        ['listening', '404', 'stopping'],
      );
      for (const line of lines) assert.equal(line.includes('\u001b['), isColoured);
      assert.doesNotMatch(output, /"level"/);
    });
  }
});

test('Without a terminal, standard output has only log lines', async () => {
  await using folder = await createFolder();
  await using service = await startService(folder.path);
  const { output } = await service.stop();
  for (const line of output.trimEnd().split('\n')) assert.equal(typeof JSON.parse(line), 'object');
});
