import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFolder } from '../../testkit/folder.ts';
import { send, signIn, startService, type Variables } from '../../testkit/service-process.ts';
import { readText } from '../project/files.ts';

const OLD = 'the old secret, which has 32 bytes or more';
const NEW = 'the new secret, which has 32 bytes or more';
const PASSWORD = 'the password of these tests';

const GUIDE = readText('docs/operating.md').split('## Changing the secret\n')[1]?.split('\n## ')[0] ?? '';

/** The variables after a step of the guide. */
function afterStep(variables: Variables, step: string): Variables {
  const values = [...step.matchAll(/`(SECRET_TOKEN\w*)` to the (new|old)/g)];
  const removed = [...step.matchAll(/remove\s+`(SECRET_TOKEN\w*)`/g)].map(([, name]) => name);
  assert.ok(values.length + removed.length > 0, step);
  const all = { ...variables };
  for (const [, name = '', which] of values) all[name] = which === 'new' ? NEW : OLD;
  return Object.fromEntries(Object.entries(all).filter(([name]) => !removed.includes(name)));
}

/** The variables before and after each numbered step of the guide. */
function readSteps(): Variables[] {
  const steps: Variables[] = [{ SECRET_TOKEN: OLD }];
  for (const [step] of GUIDE.matchAll(/^[0-9]\. .*(?:\n {3}.*)*/gm)) {
    steps.push(afterStep(steps.at(-1) ?? {}, step));
  }
  return steps;
}

/** The steps whose tokens each step accepts. */
const ACCEPTED = [
  [0, 1],
  [0, 1, 2, 3],
  [0, 1, 2, 3],
  [2, 3],
];

test('During a rotation of SECRET_TOKEN, copies at adjacent steps accept the tokens of each other', async () => {
  await using folder = await createFolder();
  await using services = new AsyncDisposableStack();
  const copies = await Promise.all(
    readSteps().map(async (variables, index) => {
      const service = services.use(
        await startService(folder.path, { ...variables, AUTH_PASSWORD: PASSWORD }),
      );
      const { data } = await signIn(service, 'admin', PASSWORD);
      return { service, accepts: ACCEPTED[index], token: (data as { token: string }).token };
    }),
  );
  assert.equal(copies.length, ACCEPTED.length);
  for (const { service, accepts } of copies) {
    for (const [step, { token }] of copies.entries()) {
      const isAccepted = accepts?.includes(step);
      assert.equal((await send(service, 'GET', '/books', { token })).status, isAccepted ? 200 : 401);
    }
  }
});

test('After a leak, the guide changes SECRET_TOKEN in one step, and no old token is accepted', () => {
  const [paragraph = ''] = /^If the old secret has leaked.*?\n$/ms.exec(GUIDE) ?? [];
  for (const variables of readSteps().slice(0, -1)) {
    assert.deepEqual(afterStep(variables, paragraph), { SECRET_TOKEN: NEW });
  }
});
