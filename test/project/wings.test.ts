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
import { createFolder } from '../../testkit/folder.ts';
import { CREDENTIALS } from '../conformance/credentials.ts';
import { ROOT, readText } from './files.ts';

/** The wings, and the rules that a service without them cannot meet. */
const WINGS: Readonly<Record<string, Rule['needs'][]>> = { history: ['history'], search: [] };

for (const [wing, needed] of Object.entries(WINGS)) {
  describe(`without src/${wing}/ and its entry in src/app.ts, the service meets the contract`, () => {
    registerRules(
      rules.filter(({ needs }) => needs === undefined || !needed.includes(needs)),
      () => startWithout(wing),
    );
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
  writeFileSync(app, withoutWing(readText('src/app.ts'), wing));
  const { config, secrets } = readConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    DB_URL: `sqlite:${join(folder.path, 'books.db')}`,
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

/** Takes the import of a wing and its entry away. */
function withoutWing(source: string, wing: string): string {
  const [line = '', name = ''] =
    new RegExp(`^import \\{ (\\w+) \\} from './${wing}/wing\\.ts';\\n`, 'm').exec(source) ?? [];
  const [list = '', entries = ''] = /^const WINGS: readonly Wing\[\] = \[(.*)\];$/m.exec(source) ?? [];
  assert.ok(name !== '' && entries.split(', ').includes(name), `src/app.ts has no entry of src/${wing}/`);
  const others = entries.split(', ').filter((entry) => entry !== name);
  return source.replace(line, '').replace(list, list.replace(entries, others.join(', ')));
}
