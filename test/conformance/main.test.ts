import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startFaultyServer } from '../../conformance/faulty/server.ts';

const CREDENTIALS = {
  username: 'reader',
  password: 'pass "word"',
  secret: 'a secret of at least 32 bytes, or so',
};
const KNOWN = ['--username', CREDENTIALS.username, '--password', CREDENTIALS.password];

describe('npm run conformance', () => {
  test('exit code 0 when every rule holds', async () => {
    await using server = await startFaultyServer(CREDENTIALS);
    const run = await conformance('--url', server.url, ...KNOWN, '--secret', CREDENTIALS.secret);
    assert.equal(run.code, 0, run.output);
    assert.match(run.output, /\nPOST \/token\n {2}pass {2}400 Invalid request payload/);
    assert.match(run.output, /(\d+) rules: \1 passed, 0 failed, 0 not tried\n$/);
  });

  test('without the secret its rules are not tried, and do not fail', async () => {
    await using server = await startFaultyServer(CREDENTIALS);
    const run = await conformance('--url', server.url, ...KNOWN, '--only', 'specification');
    assert.equal(run.code, 0, run.output);
    assert.match(run.output, /an issued token is signed with SECRET_TOKEN: not tried: needs --secret\n/);
    assert.doesNotMatch(run.output, /decided by this project|FAIL/);
  });

  test('exit code 1 when a rule fails, with what was expected and what came, and nothing confidential', async () => {
    await using server = await startFaultyServer(CREDENTIALS, 'any password is right');
    const run = await conformance('--url', server.url, ...KNOWN, '--secret', CREDENTIALS.secret);
    assert.equal(run.code, 1, run.output);
    assert.match(
      run.output,
      /FAIL {2}401 Invalid credentials when the password does not match\n +POST \/token .*: expected 401 .*, got 200 /,
    );
    for (const text of ['pass \\"word', CREDENTIALS.password, CREDENTIALS.secret, 'eyJ']) {
      assert.ok(!run.output.includes(text), run.output);
    }
  });

  test('exit code 2 and one line on wrong usage, and when nobody answers or signs us in', async () => {
    await using server = await startFaultyServer(CREDENTIALS);
    for (const [said, ...args] of [
      [/--url needs/, ...KNOWN],
      [/--url needs/, '--url', 'localhost:8080', ...KNOWN],
      [/--url needs/, '--url', 'http://localhost/prefix', ...KNOWN],
      [/--username is missing/, '--url', server.url],
      [/--password is missing/, '--url', server.url, '--username', 'reader'],
      [/--only takes/, '--url', server.url, ...KNOWN, '--only', 'half'],
      [/--timeout takes/, '--url', server.url, ...KNOWN, '--timeout', 'soon'],
      [/Unknown option/, '--nonsense'],
      [/belongs to no option/, '--url', server.url, ...KNOWN, 'hunter2'],
      [/cannot reach/, '--url', 'http://127.0.0.1:1', ...KNOWN],
      [/username or password/, '--url', server.url, '--username', 'reader', '--password', 'wrong'],
    ] as const) {
      const run = await conformance(...args);
      assert.equal(run.code, 2, run.output);
      assert.match(run.output, said);
      assert.match(run.output, /^conformance: [^\n]+\n$/);
      assert.doesNotMatch(run.output, /hunter2/);
    }
  });

  test('--help', async () => {
    const run = await conformance('--help');
    assert.equal(run.code, 0);
    assert.match(run.output, /--url/);
  });
});

/** Runs the command line, away from the environment of this process. */
function conformance(...args: string[]): Promise<{ code: unknown; output: string }> {
  const main = fileURLToPath(new URL('../../conformance/main.ts', import.meta.url));
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { env: {} }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, output: stdout + stderr }),
    );
  });
}
