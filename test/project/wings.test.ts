import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { registerRules } from '../../conformance/register.ts';
import type { Rule } from '../../conformance/rule.ts';
import { rules } from '../../conformance/rules.ts';
import type { ServiceOptions } from '../../conformance/service.ts';
import type { startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config/config.ts';
import { createFolder } from '../../testkit/folder.ts';
import { CREDENTIALS } from '../conformance/credentials.ts';
import { ROOT } from './files.ts';

/** The wings, and the rules that a service without them cannot meet. */
const WINGS: Readonly<Record<string, Rule['needs'][]>> = { history: ['history'], search: [] };

for (const [wing, needed] of Object.entries(WINGS)) {
  describe(`without src/${wing}/, and without its lines in src/app.ts, the service meets the contract`, () => {
    registerRules(
      rules.filter(({ needs }) => needs === undefined || !needed.includes(needs)),
      () => startWithout(wing),
    );
  });

  test(`src/app.ts has lines of src/${wing}/ to take away`, () => {
    const lines = readFileSync(join(ROOT, 'src/app.ts'), 'utf8').split('\n');
    assert.ok(lines.some((line) => line.includes(`from './${wing}/`)));
  });
}

/** Starts a copy of the service from which a wing was taken away. */
async function startWithout(wing: string): Promise<ServiceOptions & AsyncDisposable> {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await createFolder());
  for (const name of ['src', 'package.json'])
    cpSync(join(ROOT, name), join(folder.path, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'), 'junction');
  rmSync(join(folder.path, 'src', wing), { recursive: true });
  const app = join(folder.path, 'src/app.ts');
  const lines = readFileSync(app, 'utf8').split('\n');
  writeFileSync(app, lines.filter((line) => !new RegExp(wing, 'i').test(line)).join('\n'));
  const { config, secrets } = readConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    DB_URL: `sqlite:${join(folder.path, 'books.db')}`,
    SECRET_TOKEN: CREDENTIALS.secret,
    AUTH_USERNAME: CREDENTIALS.username,
    AUTH_PASSWORD: CREDENTIALS.password,
  });
  const copy = (await import(pathToFileURL(app).href)) as { startApp: typeof startApp };
  const running = await copy.startApp(config, secrets, { logStream: { write: () => {} } });
  resources.defer(() => running.close());
  const started = resources.move();
  return { ...CREDENTIALS, url: running.url, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
