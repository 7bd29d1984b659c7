import { after, describe } from 'node:test';
import type { HttpResponse } from '../../conformance/client.ts';
import { registerRules } from '../../conformance/register.ts';
import { assertListed, recordStatements } from '../../conformance/statements.ts';
import { startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config/config.ts';
import { assertDescribed } from '../openapi/described.ts';
import { engines } from '../support/engines.ts';
import { CREDENTIALS } from './credentials.ts';

const sent = recordStatements();

for (const engine of engines) {
  describe(`the service meets the contract on ${engine.name}`, () => {
    let needed: ReadonlySet<string> = new Set();
    registerRules(async () => {
      await using resources = new AsyncDisposableStack();
      const address = resources.use(await engine.createAddress());
      const { config, secrets } = readConfig({
        HOST: '127.0.0.1',
        PORT: '0',
        DB_URL: address.dbUrl,
        SECRET_TOKEN: CREDENTIALS.secret,
        AUTH_USERNAME: CREDENTIALS.username,
        AUTH_PASSWORD: CREDENTIALS.password,
      });
      sent.clear();
      const app = await startApp(config, secrets, { logStream: { write: () => {} } });
      resources.defer(() => app.close());
      resources.defer(() => {
        needed = new Set(sent);
      });
      const running = resources.move();
      return {
        ...CREDENTIALS,
        url: app.url,
        onResponse,
        [Symbol.asyncDispose]: () => running.disposeAsync(),
      };
    });
    if (engine.name === 'PostgreSQL') after(() => assertListed(needed));
  });
}

/** Validates every response against `/openapi.json`, too. */
function onResponse({ request, status, headers, body }: HttpResponse): Promise<void> {
  const [, method, target] = /^([A-Z]+) (\S+)/.exec(request) ?? [];
  const described = method === undefined || target === undefined ? undefined : { method, target };
  return assertDescribed(described, { status, headers, body });
}
