import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { send, signIn, startService } from './service-process.ts';

const OLD = 'the secret that is to go, of 32 bytes or more';
const NEW = 'the secret that is to come, of 32 bytes or more';
const PASSWORD = 'the password of these tests';

/** The steps by which docs/operating.md has a secret changed, and whose tokens each of them takes. */
const STEPS = [
  { variables: { SECRET_TOKEN: OLD }, accepts: [0, 1] },
  { variables: { SECRET_TOKEN: OLD, SECRET_TOKEN_PREVIOUS: NEW }, accepts: [0, 1, 2, 3] },
  { variables: { SECRET_TOKEN: NEW, SECRET_TOKEN_PREVIOUS: OLD }, accepts: [0, 1, 2, 3] },
  { variables: { SECRET_TOKEN: NEW }, accepts: [2, 3] },
] as const;

test('A secret is changed in steps, two of which may be at work at once without a token refused', async () => {
  await using folder = await createFolder();
  await using services = new AsyncDisposableStack();
  const copies = await Promise.all(
    STEPS.map(async ({ variables, accepts }) => {
      const service = services.use(
        await startService(folder.path, { ...variables, AUTH_PASSWORD: PASSWORD }),
      );
      const { data } = await signIn(service, 'admin', PASSWORD);
      return { service, accepts, token: (data as { token: string }).token };
    }),
  );
  for (const { service, accepts } of copies) {
    for (const [step, { token }] of copies.entries()) {
      const isAccepted = (accepts as readonly number[]).includes(step);
      assert.equal((await send(service, 'GET', '/books', { token })).status, isAccepted ? 200 : 401);
    }
  }
});
