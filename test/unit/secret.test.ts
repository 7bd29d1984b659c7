import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format, inspect } from 'node:util';
import { Secret } from '../../src/secret.ts';

const secret = new Secret('hunter2');

test('reveal returns the secret', () => {
  assert.equal(secret.reveal(), 'hunter2');
});

const PRINTED = {
  'by String': String(secret),
  // oxlint-disable-next-line typescript/restrict-template-expressions -- the mistake that it is there for
  'in a template': `${secret}`,
  'joined to a text': `the password is ${[secret].join()}`,
  'by JSON.stringify': JSON.stringify({ secret }),
  'by inspect': inspect({ secret }, { depth: null, showHidden: true, getters: true, customInspect: false }),
  'by format': format('%s %o %O %j', secret, secret, secret, secret),
  'as the message of an error': String(new Error(String(secret))),
  'by its own properties': JSON.stringify([Object.entries(secret), Reflect.ownKeys(secret)]),
  'as a clone': inspect(structuredClone(secret)),
};
for (const [how, text] of Object.entries(PRINTED)) {
  test(`A secret is not printed ${how}`, () => assert.doesNotMatch(text, /hunter2/));
}

test('A secret is printed as [secret]', () => {
  assert.equal(String(secret), '[secret]');
  assert.equal(JSON.stringify(secret), '"[secret]"');
  assert.equal(inspect(secret), '[secret]');
});
