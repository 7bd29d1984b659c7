import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startFaultyServer } from '../../conformance/faulty/server.ts';
import { CREDENTIALS } from './credentials.ts';

const KNOWN = ['--username', CREDENTIALS.username, '--password', CREDENTIALS.password];

describe('npm run conformance', () => {
  test('the exit code is 0 when every rule passes', async () => {
    await using server = await startFaultyServer(CREDENTIALS);
    const run = await conformance('--url', server.url, ...KNOWN, '--secret', CREDENTIALS.secret);
    assert.equal(run.code, 0, run.output);
    assert.match(run.output, /\nPOST \/token\n {2}pass {2}400 Invalid request payload/);
    assert.match(run.output, /(\d+) rules: \1 passed, 0 failed, 0 skipped\n$/);
  });

  test('without the secret, the rules that need it are skipped', async () => {
    await using server = await startFaultyServer(CREDENTIALS);
    const run = await conformance('--url', server.url, ...KNOWN, '--only', 'specification');
    assert.equal(run.code, 0, run.output);
    assert.match(run.output, /an issued token is signed with SECRET_TOKEN: needs --secret\n/);
    assert.doesNotMatch(run.output, /added by this project|FAIL/);
  });

  test('the exit code is 1 when a rule fails; expected and actual response are printed, without anything confidential', async () => {
    await using server = await startFaultyServer(CREDENTIALS, 'any password is accepted');
    const run = await conformance('--url', server.url, ...KNOWN, '--secret', CREDENTIALS.secret);
    assert.equal(run.code, 1, run.output);
    assert.match(
      run.output,
      /FAIL {2}401 Invalid credentials when the password does not match\n +POST \/token .*: expected 401 .*, got 200 /,
    );
    for (const text of [
      JSON.stringify(CREDENTIALS.password).slice(1, -1),
      CREDENTIALS.password,
      CREDENTIALS.secret,
      'eyJ',
    ]) {
      assert.ok(!run.output.includes(text), run.output);
    }
  });

  test('the exit code is 2, with one line, on wrong usage, without a connection and for wrong credentials', async () => {
    await using server = await startFaultyServer(CREDENTIALS);
    for (const [expected, ...args] of [
      [/--url needs/, ...KNOWN],
      [/--url needs/, '--url', 'localhost:8080', ...KNOWN],
      [/--url needs/, '--url', 'http://localhost/prefix', ...KNOWN],
      [/--username is missing/, '--url', server.url],
      [/--password is missing/, '--url', server.url, '--username', 'reader'],
      [/--only takes/, '--url', server.url, ...KNOWN, '--only', 'half'],
      [/--timeout takes/, '--url', server.url, ...KNOWN, '--timeout', 'soon'],
      [/Unknown option/, '--nonsense'],
      [/unexpected argument/, '--url', server.url, ...KNOWN, 'hunter2'],
      [/cannot reach/, '--url', 'http://127.0.0.1:1', ...KNOWN],
      [/username or password/, '--url', server.url, '--username', 'reader', '--password', 'wrong'],
    ] as const) {
      const run = await conformance(...args);
      assert.equal(run.code, 2, run.output);
      assert.match(run.output, expected);
      assert.match(run.output, /^conformance: [^\n]+\n$/);
      assert.doesNotMatch(run.output, /hunter2/);
    }
  });

  test('--help prints how to use it', async () => {
    const run = await conformance('--help');
    assert.equal(run.code, 0);
    assert.match(run.output, /--url/);
  });
});

const { NODE_COMPILE_CACHE = '' } = process.env;

/** Runs the command line with no variable but that of the compile cache. */
function conformance(...args: string[]): Promise<{ code: unknown; output: string }> {
  const main = fileURLToPath(new URL('../../conformance/main.ts', import.meta.url));
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { env: { NODE_COMPILE_CACHE } }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, output: stdout + stderr }),
    );
  });
}
