import { describe } from 'node:test';
import type { HttpResponse } from '../../conformance/client.ts';
import { registerRules } from '../../conformance/register.ts';
import type { Rule } from '../../conformance/rule.ts';
import { rules } from '../../conformance/rules.ts';
import type { ServiceOptions } from '../../conformance/service.ts';
import { startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config/config.ts';
import { assertDescribed } from '../../testkit/described.ts';
import { type Engine, engines } from '../../testkit/engines.ts';
import { CREDENTIALS } from './credentials.ts';

const needsHistory = ({ needs }: Rule) => needs === 'history';

for (const engine of engines) {
  describe(`the service meets the contract on ${engine.name}`, () => {
    registerRules(
      rules.filter((rule) => !needsHistory(rule)),
      () => start(engine),
    );
  });

  describe(`with a history, the service meets the rules for it on ${engine.name}`, () => {
    registerRules(rules.filter(needsHistory), () => start(engine, { HISTORY: 'on' }));
  });
}

async function start(
  engine: Engine,
  variables: Readonly<Record<string, string>> = {},
): Promise<ServiceOptions & AsyncDisposable> {
  await using resources = new AsyncDisposableStack();
  const address = resources.use(await engine.createAddress());
  const { config, secrets } = readConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    DB_URL: address.dbUrl,
    SECRET_TOKEN: CREDENTIALS.secret,
    AUTH_USERNAME: CREDENTIALS.username,
    AUTH_PASSWORD: CREDENTIALS.password,
    ...variables,
  });
  const app = await startApp(config, secrets, { write: () => {} });
  resources.defer(() => app.close());
  const running = resources.move();
  return {
    ...CREDENTIALS,
    url: app.url,
    onResponse,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Validates every response against `/openapi.json`, too. */
function onResponse({ request, status, headers, body }: HttpResponse): Promise<void> {
  const [, method, target] = /^([A-Z]+) (\S+)/.exec(request) ?? [];
  const described = method === undefined || target === undefined ? undefined : { method, target };
  return assertDescribed(described, { status, headers, body });
}
