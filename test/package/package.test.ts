import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { build } from 'vite';
import { createClient } from '../../client/index.ts';
import { engines } from '../../testkit/engines.ts';
import { PASSWORD, startService, USERNAME } from '../../testkit/service.ts';
import { ServiceProcess } from '../../testkit/service-process.ts';
import { readPackage, readText } from '../project/files.ts';
import { Project } from './project.ts';

const ILIAD = { title: 'The Iliad', author: 'Homer', year: -750 };

/** A program that uses the client, with lines that the compiler must reject. */
const PROGRAM = `
import {
  type Book, type BookClient, type BookList, type BookPage, type BookQuery, BookkeepingError, type CallOptions,
  type ClientOptions, createClient, NoResponseError, RefusedError, type VersionedBook,
} from 'bookkeeping-client';

export async function use(options: ClientOptions, call: CallOptions): Promise<readonly Book[]> {
  const client: BookClient = createClient(options);
  const created: VersionedBook = await client.create({ title: 'The Iliad', year: -750 }, call);
  const found = await client.find(created.id, { known: created, ...call });
  const year: number = found?.year ?? 0;
  if (created.etag !== undefined) await client.update(created.id, { year }, { ifMatch: created.etag, ...call });
  const query: BookQuery = { q: 'iliad', year_from: -800, sort: '-year', limit: 10, count: true };
  const list: BookList = client.list(query, call);
  for await (const book of list) console.log(book.title.length);
  for await (const page of list.pages()) {
    const { books, total, next }: BookPage = page;
    console.log(books.length, total?.toFixed(), next?.length);
  }
  const isGone: boolean = await client.delete(created.id, call);
  return isGone ? [] : await client.createMany([{ author: 'Homer' }, {}], call);
}

export function describe(error: unknown): string | number | undefined {
  if (error instanceof RefusedError) return error.invalidIndex ?? error.retryAfterSeconds ?? error.status;
  if (error instanceof NoResponseError) return error.reason === 'timeout' ? 'timeout' : error.message;
  return error instanceof BookkeepingError && error.mayHaveHappened ? 'unknown' : undefined;
}

export async function misuse(client: BookClient): Promise<void> {
  // @ts-expect-error credentials are required
  createClient({ url: 'http://localhost:8080' });
  // @ts-expect-error either a login or a token
  createClient({ url: 'http://localhost:8080', username: 'x', password: 'y', token: 'z' });
  // @ts-expect-error a year is a number
  await client.create({ year: '1999' });
  // @ts-expect-error there may be no book
  (await client.find(1)).title;
  // @ts-expect-error the store assigns ids
  await client.create({ id: 7 });
  // @ts-expect-error no such order
  client.list({ sort: 'length' });
  // @ts-expect-error books are read-only
  for await (const book of client.list()) book.title = '';
}
`;

let project: Project;
before(async () => {
  project = await Project.create();
  await project.write('program.ts', PROGRAM);
});
after(() => project[Symbol.asyncDispose]());

describe('The package', () => {
  test('contains the build, the types of the client, the documentation, and the files of npm', async () => {
    const files = await project.listFiles();
    const isExpected =
      /^(dist\/[\w/-]+\.js|dist\/package\.json|dist\/src\/web\/docs\/(page\.(css|html)|icon\.svg)|dist\/console\/dist\/(index|assets\/[\w.-]+)\.(html|css|js|svg)(\.br|\.gz)?|dist\/mcp\/licenses\.md|bin\/[\w-]+\.mjs|docs\/[\w-]+\.md|README\.md|LICENSE|package\.json)$/;
    assert.deepEqual(
      files.filter((path) => !isExpected.test(path)),
      [],
    );
    for (const path of ['dist/src/main.js', 'dist/mcp/server.js', 'dist/console/dist/index.html']) {
      assert.ok(files.includes(path), path);
    }
  });

  test('contains the files that package.json names', async () => {
    const files = await project.listFiles();
    for (const path of Object.values(readPackage().bin)) assert.ok(files.includes(path), path);
  });
});

describe('The package of the client', () => {
  before(async () => {
    await project.link('@types/node');
    for (const document of ['README.md', 'client/README.md']) {
      const [, example = ''] = /^```ts\n(.*?)^```$/ms.exec(readText(document)) ?? [];
      assert.match(example, /bookkeeping-client/);
      await project.write(`example-of-${document.replace('/', '-')}.ts`, example);
    }
  });
  const EXAMPLES = ['example-of-README.md.ts', 'example-of-client-README.md.ts'];
  // The types of Node include some of the DOM.
  for (const [place, options, files] of [
    ['a browser', ['es2022,dom', '--types', '', '--module', 'esnext', '--moduleResolution', 'bundler'], []],
    [
      'Node, for which the examples compile, too',
      ['es2022', '--types', 'node', '--module', 'nodenext'],
      EXAMPLES,
    ],
  ] as const) {
    test(`has strict types for ${place}`, async () => {
      const strictness = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
      const target = ['--noEmit', '--target', 'es2022', '--skipLibCheck', 'false', '--lib', ...options];
      assert.deepEqual(await project.compile(...strictness, ...target, 'program.ts', ...files), {
        code: 0,
        output: '',
      });
    });
  }

  test('runs without another package', async () => {
    await using service = await startService();
    await project.write(
      'program.js',
      `import * as client from 'bookkeeping-client';
       const [url, username, password] = process.argv.slice(2);
       const books = client.createClient({ url, username, password });
       const { id } = await books.create(${JSON.stringify(ILIAD)});
       const listed = [];
       for await (const book of books.list()) listed.push(book);
       const error = await books.create({ year: 1.5 }).catch((error) => error);
       console.log(JSON.stringify({
         id, listed, message: error.message, isRefused: error instanceof client.RefusedError,
         names: Object.keys(client),
       }));`,
    );
    const { code, output } = await project.node('program.js', service.url, USERNAME, PASSWORD);
    assert.equal(code, 0, output);
    assert.deepEqual(JSON.parse(output), {
      id: 1,
      listed: [{ id: 1, ...ILIAD }],
      message: 'Invalid input',
      isRefused: true,
      names: [
        'BookkeepingError',
        'ChangesRemovedError',
        'NoResponseError',
        'RefusedError',
        'Session',
        'TEXT_LENGTH_MAX',
        'createClient',
        'renewToken',
        'requestToken',
      ],
    });
  });

  test('has one module, and the service none', async () => {
    for (const specifier of [
      'bookkeeping-client/dist/client/client.js',
      'bookkeeping',
      'bookkeeping/dist/src/app.js',
    ]) {
      const { code, output } = await project.node('--eval', `await import('${specifier}')`);
      assert.notEqual(code, 0, specifier);
      assert.match(output, /ERR_PACKAGE_PATH_NOT_EXPORTED|No "exports" main/);
    }
  });

  test('has less than 4.2 kB when it is bundled and compressed', async () => {
    const input = join(project.path, 'node_modules/bookkeeping-client/dist/client/index.js');
    const built = await build({
      configFile: false,
      logLevel: 'silent',
      build: { write: false, rolldownOptions: { input, preserveEntrySignatures: 'strict' } },
    });
    assert.ok('output' in built);
    const { code } = built.output[0];
    assert.ok(code.length > 0 && gzipSync(code).length < 4_200, `${gzipSync(code).length}`);
  });
});

describe('The service in the package', () => {
  before(async () => {
    for (const name of Object.keys(readPackage().dependencies)) await project.link(name);
  });
  for (const engine of engines) {
    test(`serves on ${engine.name}`, async () => {
      await using address = await engine.createAddress();
      const folder = join(project.path, engine.name);
      await mkdir(folder);
      const variables = {
        DB_URL: address.dbUrl,
        AUTH_PASSWORD: PASSWORD,
        SECRET_TOKEN: 'k'.repeat(32),
      };
      const main = join(project.path, 'node_modules/bookkeeping', readPackage().bin.bookkeeping ?? '');
      await using service = await new ServiceProcess(folder, variables, [], main).listening();
      const books = createClient({ url: service.url, username: 'admin', password: PASSWORD });
      const { id } = await books.create(ILIAD);
      for await (const book of books.list({ q: 'iliad' })) assert.deepEqual(book, { id, ...ILIAD });
      for (const path of ['/docs', '/docs/page.js', '/docs/icon.svg', '/docs/swagger-ui-bundle.js']) {
        assert.equal((await fetch(service.url + path)).status, 200, path);
      }
      const { code, complaints } = await service.stop();
      assert.deepEqual([code, complaints], [0, '']);
    });
  }

  test('has the commands', async () => {
    const main = join(project.path, 'node_modules/bookkeeping', readPackage().bin.bookkeeping ?? '');
    assert.deepEqual(await project.node(main, '--version'), {
      code: 0,
      output: `${readPackage().version}\n`,
    });
    await project.write('books.csv', 'title,author,year\nThe Iliad,Homer,-750\n');
    const { code, output } = await project.node(main, 'import', 'books.csv');
    assert.match(output, /^read 1, stored 1, /);
    assert.equal(code, 0);
  });

  test('has `bookkeeping mcp`, with all packages that it needs', async () => {
    const main = join(project.path, 'node_modules/bookkeeping', readPackage().bin.bookkeeping ?? '');
    await using service = await startService();
    const client = new Client({ name: 'test', version: '1' });
    const args = [main, 'mcp', '--url', service.url];
    const env = { BOOKKEEPING_TOKEN: service.token };
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, cwd: project.path, env }),
    );
    assert.equal(client.getServerVersion()?.version, readPackage().version);
    const { structuredContent } = await client.callTool({ name: 'search_books', arguments: {} });
    assert.deepEqual(structuredContent, { books: [], total: 0 });
    // Errors of the client are told apart in the build, too.
    const { content } = await client.callTool({ name: 'search_books', arguments: { after: 'x' } });
    assert.match(JSON.stringify(content), /Invalid query: after must be/);
    await client.close();
  });

  test('has a command with the memory options of `npm start`', () => {
    const options = /^exec node (.*) bin\/bookkeeping\.mjs$/.exec(readPackage().scripts.start ?? '')?.[1];
    const [firstLine, ...rest] = readText(readPackage().bin.bookkeeping ?? '').split('\n');
    assert.equal(firstLine, `#!/usr/bin/env -S node ${options}`);
    assert.ok(rest.join('\n').includes(`'${options}'`));
  });
});
