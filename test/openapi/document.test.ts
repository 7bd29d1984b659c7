import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { readLoginRequest } from '../../src/auth/credentials.ts';
import { readBook, readBookFields } from '../../src/book/book.ts';
import { outcomes } from '../../src/http/outcomes.ts';
import { Invalid } from '../../src/json/invalid.ts';
import { startBareServer } from '../../testkit/bare-server.ts';
import { examplesOf, type OperationObject, readDocument } from '../../testkit/document.ts';
import { createFolder } from '../../testkit/folder.ts';
import { ROOT, readPackage } from '../project/files.ts';

const document = await readDocument();
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): [string, OperationObject] => [
    `${method.toUpperCase()} ${path}`,
    operation,
  ]),
);

/** Routes that are not part of the API. */
const NOT_IN_API = /^\/(openapi\.json|(docs|console)(\/.*)?)$/;

describe('/openapi.json', () => {
  test('is OpenAPI 3.1 of this version', () => {
    assert.match(document.openapi, /^3\.1\./);
    assert.equal(document.info.version, readPackage().version);
  });

  test('has every route of the server, and no other', async () => {
    await using server = await startBareServer();
    const routes = server.routes
      .filter(({ url, method }) => !NOT_IN_API.test(url) && method !== 'HEAD')
      .map(({ url, method }) => `${String(method)} ${url.replace(/:([a-z]+)/g, '{$1}')}`);
    assert.ok(routes.length > 0);
    assert.deepEqual(operations.map(([name]) => name).toSorted(), routes.toSorted());
  });

  test('has every outcome with an example', () => {
    const examples = operations.flatMap(([, { responses }]) => Object.values(responses).flatMap(examplesOf));
    const { notModified, ...withContent } = outcomes;
    for (const [name, { status, message }] of Object.entries(withContent)) {
      const ofOutcome = examples.filter(([example]) => example === name);
      assert.ok(ofOutcome.length > 0, name);
      for (const [, value] of ofOutcome) {
        assert.deepEqual(Object.keys(value), ['status', 'message', 'data']);
        assert.deepEqual(value, { status, message, data: value.data });
      }
    }
    const withoutContent = operations.filter(([, { responses }]) => notModified.status in responses);
    assert.deepEqual(
      withoutContent.map(([name, { responses }]) => [name, responses[notModified.status]?.content]),
      [['GET /book/{id}', undefined]],
    );
  });

  test('has GET /metrics, whose success is text', () => {
    const { responses } = document.paths['/metrics']?.get ?? {};
    assert.deepEqual(Object.keys(responses?.[200]?.content ?? {}), ['text/plain']);
    assert.deepEqual(
      examplesOf(responses?.[503] ?? {}).map(([name]) => name),
      ['serviceUnavailable'],
    );
  });

  test('has examples that its schemas allow', () => {
    const ajv = new Ajv2020({ strict: false }).addSchema(document, 'openapi.json');
    for (const [name, { responses, requestBody }] of operations) {
      for (const response of Object.values(responses)) {
        for (const [, value] of examplesOf(response)) {
          const { schema } = response.content?.['application/json'] ?? {};
          assert.ok(schema && ajv.validate(rooted(schema), value), `${name}: ${ajv.errorsText()}`);
        }
      }
      if (!requestBody) continue;
      const { schema } = requestBody.content['application/json'];
      const least = { 'POST /books': [{}], 'PATCH /books': [{ id: 1 }], 'POST /books/restore': [1] };
      const empty = least[name as keyof typeof least] ?? {};
      assert.ok(ajv.validate(rooted(schema), empty), name);
    }
  });

  test('declares a token exactly for the operations that respond 401 without one', async () => {
    await using server = await startBareServer();
    for (const [name, { security }] of operations) {
      const [method = '', path = ''] = name.split(' ');
      const { status } = await fetch(server.url + path.replace('{id}', '1'), { method });
      assert.equal(status === 401, security.length > 0, name);
    }
  });

  test('declares 403 exactly for the operations that need a token and change something', () => {
    for (const [name, { security, responses }] of operations) {
      // A renewal changes nothing.
      const isWrite = security.length > 0 && !/^GET |^POST [/]token[/]renewal$/.test(name);
      assert.equal(403 in responses, isWrite, name);
    }
  });

  test('names no server, so that generators of clients take the host that they have read it from', () => {
    assert.ok(!('servers' in document));
  });

  test('passes the recommended rules of Redocly without warnings, which detect an error', async () => {
    await lint(document);
    await assert.rejects(lint({ ...document, paths: undefined }), /no-unused-components/);
  });
});

/** @throws Error with the report of the linter */
async function lint(description: object): Promise<void> {
  await using folder = await createFolder();
  await writeFile(join(folder.path, 'openapi.json'), JSON.stringify(description));
  const linter = join(ROOT, 'node_modules/@redocly/cli/bin/cli.js');
  const args = [
    linter,
    'lint',
    'openapi.json',
    '--extends',
    'recommended-strict',
    '--skip-rule',
    'no-empty-servers',
    '--format',
    'stylish',
  ];
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  try {
    await promisify(execFile)(process.execPath, args, { cwd: folder.path, env });
  } catch (error) {
    throw new Error((error as { stdout: string }).stdout, { cause: error });
  }
}

describe('The schema of a body accepts exactly the bodies that the service accepts:', () => {
  const ajv = new Ajv2020({ strict: false }).addSchema(document, 'openapi.json');
  for (const [name, read] of Object.entries({
    LoginRequest: readLoginRequest,
    NewBook: readBook,
    BookChanges: readBookFields,
  })) {
    test(name, () => {
      const validate = ajv.getSchema(`openapi.json#/components/schemas/${name}`);
      assert.ok(validate);
      let readable = 0;
      fc.assert(
        fc.property(bodies(), (body) => {
          const isRead = !(read(Buffer.from(JSON.stringify(body))) instanceof Invalid);
          if (isRead) readable++;
          assert.equal(validate(body), isRead);
        }),
        { numRuns: 1_000 },
      );
      assert.ok(readable > 0);
    });
  }
});

/** Values with the fields of bodies, of valid and invalid types. */
function bodies(): fc.Arbitrary<unknown> {
  const text = fc.oneof(
    fc.string({ unit: 'binary-ascii' }),
    fc.constantFrom('', 'a\0b', '\0', 'Ὅμηρος', '📚'.repeat(4_096), 'x'.repeat(4_097)),
  );
  const year = fc.oneof(
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(0, -0, 1999.5, 2 ** 53, -(2 ** 53)),
  );
  const field = fc.oneof(text, year, fc.constantFrom(null, true), fc.array(text));
  const object = fc.record(
    {
      title: fc.oneof(text, field),
      author: fc.oneof(text, field),
      year: fc.oneof(year, field),
      username: fc.oneof(text, field),
      password: fc.oneof(text, field),
      scope: fc.oneof(fc.constant('read'), field),
      id: field,
    },
    { requiredKeys: [] },
  );
  return fc.oneof({ weight: 9, arbitrary: object }, field);
}

/** A schema whose references point into the document. */
function rooted(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi.json#/')) as object;
}
