import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { Tokens } from '../../src/auth/tokens.ts';
import { perform } from '../../src/cli/commands/token.ts';
import { Secret } from '../../src/secret.ts';
import { runCommand } from '../../testkit/command.ts';
import { createFolder } from '../../testkit/folder.ts';
import { readEnvironmentFile, send, startService } from '../../testkit/service-process.ts';

const SECRET_TOKEN = 'k'.repeat(32);
const variables = { SECRET_TOKEN, AUTH_PASSWORD: 'hunter2' };

/** The remaining lifetime of a token, in seconds. */
function lifetimeOf(token: string): number {
  const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
    exp: number;
  };
  return exp - Date.now() / 1_000;
}

describe('bookkeeping token', { concurrency: 2 }, () => {
  for (const [ttl, seconds] of [
    [undefined, 900],
    ['60', 60],
    ['15m', 900],
    ['1h', 3_600],
  ] as const) {
    test(`prints only a token, valid for ${ttl ?? '15 minutes by default'}`, async () => {
      await using folder = await createFolder();
      const args = ttl === undefined ? ['token'] : ['token', '--ttl', ttl];
      const { code, stdout, stderr } = await runCommand(args, { folder: folder.path, variables });
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
      const token = stdout.trim();
      assert.equal(new Tokens(new Secret(SECRET_TOKEN), Date.now).verify(token), 'valid');
      assert.ok(Math.abs(lifetimeOf(token) - seconds) < 60);
      assert.deepEqual(await readdir(folder.path), []);
    });
  }

  test('prints a read-only token with --read-only', async () => {
    await using folder = await createFolder();
    const args = ['token', '--read-only', '--ttl', '90d'];
    const { code, stdout } = await runCommand(args, { folder: folder.path, variables });
    assert.equal(code, 0);
    const tokens = new Tokens(new Secret(SECRET_TOKEN), Date.now);
    assert.equal(tokens.verify(stdout.trim()), 'read-only');
    assert.ok(Math.abs(lifetimeOf(stdout) - 90 * 86_400) < 60);
  });

  test('prints a token that a service in the same folder accepts, even if the service has not run yet', async () => {
    await using folder = await createFolder();
    const { code, stdout, stderr } = await runCommand(['token'], { folder: folder.path });
    assert.equal(code, 0);
    assert.match(stderr, /^bookkeeping: generated [^\n]+\n$/);
    for (const value of Object.values(await readEnvironmentFile(folder.path))) {
      if (value !== 'admin') assert.ok(!(stdout + stderr).includes(value ?? ''), 'a secret is printed');
    }
    await using service = await startService(folder.path);
    assert.equal((await send(service, 'GET', '/books', { token: stdout.trim() })).status, 200);
  });

  for (const ttl of ['soon', '0', '3651d', '1.5h', '']) {
    test(`rejects the lifetime ${JSON.stringify(ttl)}`, async () => {
      await assert.rejects(perform({ ttl }), /^UsageError: token: --ttl must be/);
    });
  }

  test('fails in production without a secret', async () => {
    await using folder = await createFolder();
    const production = {
      folder: folder.path,
      variables: { NODE_ENV: 'production', AUTH_PASSWORD: 'hunter2' },
    };
    assert.deepEqual(await runCommand(['token'], production), {
      code: 1,
      stdout: '',
      stderr: 'bookkeeping: SECRET_TOKEN: must be set\n',
    });
  });
});
