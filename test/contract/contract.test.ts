import { describe } from 'node:test';
import { startApp } from '../../src/app.ts';
import { Secret } from '../../src/secret.ts';
import { parseStoreAddress } from '../../src/store/address.ts';
import { engines } from '../support/engines.ts';
import { registerRules } from './register.ts';

const CREDENTIALS = {
  username: 'reader',
  password: 'p"ä ss',
  secret: 'a secret of at least 32 bytes, or so',
};

for (const engine of engines) {
  describe(`the service keeps the contract on ${engine.name}`, () => {
    registerRules(async () => {
      await using resources = new AsyncDisposableStack();
      const address = resources.use(await engine.createAddress());
      const app = await startApp(
        {
          port: 0,
          host: '127.0.0.1',
          store: parseStoreAddress(address.dbUrl),
          corsOrigins: [],
          trustProxy: false,
        },
        {
          token: new Secret(CREDENTIALS.secret),
          username: CREDENTIALS.username,
          password: new Secret(CREDENTIALS.password),
        },
        { logStream: { write: () => {} } },
      );
      resources.defer(() => app.close());
      const running = resources.move();
      return { ...CREDENTIALS, url: app.url, [Symbol.asyncDispose]: () => running.disposeAsync() };
    });
  });
}
