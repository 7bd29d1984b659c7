import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Credentials, readLoginRequest } from '../../src/auth/credentials.ts';
import { Invalid } from '../../src/json/invalid.ts';
import { Secret } from '../../src/secret.ts';

describe('readLoginRequest', () => {
  test('returns username and password', () => {
    const login = { username: 'admin', password: 'hunter2' };
    assert.deepEqual(read(JSON.stringify(login)), login);
    assert.deepEqual(read('{"Username":"admin","PASSWORD":"hunter2","remember":true}'), login);
  });

  test('returns the scope `read`, and Invalid for any other', () => {
    assert.deepEqual(read('{"SCOPE":"read"}'), { username: '', password: '', scope: 'read' });
    for (const scope of ['', 'READ', 'read write', null, 1, ['read']])
      assert.ok(read(JSON.stringify({ scope })) instanceof Invalid);
  });

  test('returns empty texts for absent fields', () => {
    assert.deepEqual(read('{}'), { username: '', password: '' });
    assert.deepEqual(read('{"password":"hunter2"}'), { username: '', password: 'hunter2' });
  });

  test('returns Invalid if a field is not a string or the body not an object', () => {
    const bodies = [
      '',
      'null',
      '[]',
      '{"username":null}',
      '{"password":null}',
      '{"username":1}',
      '{"password":{}}',
    ];
    for (const body of bodies) assert.ok(read(body) instanceof Invalid, body);
  });
});

describe('The credentials', () => {
  const credentials = new Credentials('admin', new Secret('hunter2'));

  test('match the configured pair', () => {
    assert.equal(credentials.match({ username: 'admin', password: 'hunter2' }), true);
  });

  test('do not match any other pair', () => {
    const others: [string, string][] = [
      ['', ''],
      ['admin', ''],
      ['', 'hunter2'],
      ['admin', 'hunter'],
      ['admin', 'hunter22'],
      ['admin', 'Hunter2'],
      ['Admin', 'hunter2'],
      ['admin ', 'hunter2'],
      ['hunter2', 'admin'],
      ['adminhunter2', ''],
      ['admin', 'hunter2\0'],
      ['admin', 'x'.repeat(1_000_000)],
    ];
    for (const [username, password] of others) assert.equal(credentials.match({ username, password }), false);
  });

  test('distinguish composed and decomposed letters', () => {
    const composed = new Credentials('émile', new Secret('é'));
    assert.equal(composed.match({ username: 'émile', password: 'é' }), true);
    assert.equal(composed.match({ username: 'e\u0301mile', password: 'e\u0301' }), false);
  });
});

function read(text: string) {
  return readLoginRequest(Buffer.from(text));
}
