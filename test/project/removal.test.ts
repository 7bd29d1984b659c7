import assert from 'node:assert/strict';
import { cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import { registerRules } from '../../conformance/register.ts';
import type { Rule } from '../../conformance/rule.ts';
import { rules } from '../../conformance/rules.ts';
import type { ServiceOptions } from '../../conformance/service.ts';
import type { startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config/config.ts';
import { type Engine, engines } from '../../testkit/engines.ts';
import { createFolder } from '../../testkit/folder.ts';
import { CREDENTIALS } from '../conformance/credentials.ts';
import { ROOT, readText } from './files.ts';

/** What can be removed, and the rules that a service without it cannot meet. */
const PARTS: Readonly<Record<string, Rule['needs'][]>> = { history: ['history'], search: ['pages'] };

for (const [part, needed] of Object.entries(PARTS)) {
  for (const engine of engines) {
    describe(`without src/${part}/ and its lines in src/app.ts and src/server.ts, the service meets the contract on ${engine.name}`, () => {
      registerRules(
        rules.filter(({ needs }) => needs === undefined || !needed.includes(needs)),
        () => startWithout(part, engine),
      );
    });
  }
}

/** Starts a copy of the service from which a part was removed. */
async function startWithout(part: string, engine: Engine): Promise<ServiceOptions & AsyncDisposable> {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await createFolder());
  const address = resources.use(await engine.createAddress());
  for (const name of ['src', 'package.json'])
    cpSync(join(ROOT, name), join(folder.path, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'), 'junction');
  rmSync(join(folder.path, 'src', part), { recursive: true });
  for (const file of ['src/app.ts', 'src/server.ts'])
    writeFileSync(join(folder.path, file), withoutPart(readText(file), part));
  const app = join(folder.path, 'src/app.ts');
  const { config, secrets } = readConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    DB_URL: address.dbUrl,
    HISTORY: 'on',
    SECRET_TOKEN: CREDENTIALS.secret,
    AUTH_USERNAME: CREDENTIALS.username,
    AUTH_PASSWORD: CREDENTIALS.password,
  });
  const copy = (await import(pathToFileURL(app).href)) as { startApp: typeof startApp };
  const running = await copy.startApp(config, secrets, { write: () => {} });
  resources.defer(() => running.close());
  const started = resources.move();
  return { ...CREDENTIALS, url: running.url, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

/** Removes what is only there for a part: its imports, its block, its declarations, and its name from lists. */
function withoutPart(source: string, part: string): string {
  const without = source
    .replace(new RegExp(`^  if \\(${part}\\) \\{[^]*?^  \\}(?: else \\{\n([^]*?)^  \\})?\n`, 'm'), '$1')
    .replace(new RegExp(`^import .* from './${part}/.*\n`, 'gm'), '')
    .replace(new RegExp(`^ +(?:const |readonly )?${part}(?:,|:| =).*\n`, 'gm'), '')
    .replaceAll(`, ${part}`, '');
  assert.notEqual(without, source);
  return without;
}
