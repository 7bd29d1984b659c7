import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routableTarget } from '../../src/http/request-target.ts';

test('A routable target has no escapes in its path, which the router would decode, and keeps its query', () => {
  const targets = {
    '/books?q=%41#b': '/books?q=%41%23b',
    '/%6detrics': '/~6detrics',
    '/book/%31?q=%': '/book/~31?q=%',
    '/#': '/~23',
    'http://localhost/%62ooks?a=%62': '/~62ooks?a=%62',
  };
  for (const [target, routable] of Object.entries(targets)) assert.equal(routableTarget(target), routable);
  for (const character of ['%', '#', '%25'])
    assert.doesNotMatch(routableTarget(`/${character.repeat(5_000)}`), /%/);
});
