import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify, stripVTControlCharacters } from 'node:util';
import { createFolder } from '../support/folder.ts';
import { readEnvironmentFile, type ServiceProcess, startService, type Variables } from './service-process.ts';

/** What `node` gets to take its standard output for a terminal. */
const ON_TERMINAL = [
  '--import',
  `data:text/javascript,import { WriteStream } from 'node:tty';
  const { getColorDepth } = WriteStream.prototype;
  Object.assign(process.stdout, { isTTY: true, getColorDepth });`,
];

/** A stand-in for curl, which not every machine has, as far as the greeting uses it. */
const CURL = 'curl() { "$NODE" "$CURL" "$@"; }';

/** The greeting, once all of it has been printed. */
async function greetingOf(service: ServiceProcess): Promise<string> {
  while (!/Authorization: .*\n/.test(service.output)) await new Promise(setImmediate);
  return service.output;
}

/** Does what the greeting says to try, in a shell of its own. @returns what is printed */
async function follow(greeting: string, folder: string, variables: Variables): Promise<string> {
  const commands = greeting.split('\n').filter((line) => line.includes('curl'));
  const { stdout } = await promisify(execFile)('sh', ['-euc', [CURL, ...commands].join('\n')], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      NODE: process.execPath,
      CURL: join(import.meta.dirname, 'curl.ts'),
      ...variables,
    },
  });
  return stdout;
}

const NO_BOOKS = '{"status":200,"message":"Books retrieved successfully","data":[]}';

describe('On a terminal the greeting has commands that work as they are', { concurrency: 2 }, () => {
  test('with what was generated, in the same folder', async () => {
    await using folder = await createFolder();
    await using service = await startService(folder.path, {}, ON_TERMINAL);
    const greeting = await greetingOf(service);

    assert.ok(greeting.includes(`The bookkeeping service listens at ${service.url}\n`));
    assert.ok(greeting.includes(` ${service.url}/console/\n`));
    assert.ok(greeting.includes(` ${service.url}/docs\n`));
    assert.equal(await follow(greeting, folder.path, {}), NO_BOOKS);
  });

  test('with credentials of the environment, in the same environment', async () => {
    await using folder = await createFolder();
    const credentials = { AUTH_USERNAME: 'librarian', AUTH_PASSWORD: 'hunter 2' };
    await using service = await startService(folder.path, credentials, ON_TERMINAL);

    assert.equal(await follow(await greetingOf(service), folder.path, credentials), NO_BOOKS);
  });

  test('with a username of the environment and a generated password, in the same folder', async () => {
    await using folder = await createFolder();
    await using service = await startService(folder.path, { AUTH_USERNAME: 'librarian' }, ON_TERMINAL);

    assert.equal(await follow(await greetingOf(service), folder.path, {}), NO_BOOKS);
  });

  test('without the password in it', async () => {
    await using folder = await createFolder();
    await using service = await startService(folder.path, {}, ON_TERMINAL);
    const greeting = await greetingOf(service);
    const { AUTH_PASSWORD = '', SECRET_TOKEN = '' } = await readEnvironmentFile(folder.path);

    assert.ok(!greeting.includes(AUTH_PASSWORD) && !greeting.includes(SECRET_TOKEN));
  });
});

describe('The log on a terminal is for people', { concurrency: 2 }, () => {
  for (const [what, variables, isColoured] of [
    ['coloured', { FORCE_COLOR: '1' }, true],
    ['plain with NO_COLOR', { NO_COLOR: '1' }, false],
  ] as const) {
    test(what, async () => {
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

test('Elsewhere there is no greeting: every line of the output is one of the log', async () => {
  await using folder = await createFolder();
  await using service = await startService(folder.path);
  const { output } = await service.stop();
  for (const line of output.trimEnd().split('\n')) assert.equal(typeof JSON.parse(line), 'object');
});
