import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import type * as clientModule from '../../client/index.ts';
import { TestBrowser } from '../../testkit/browser.ts';
import { PASSWORD, startService, USERNAME } from '../../testkit/service.ts';
import { ROOT } from '../project/files.ts';

describe('A client in a browser, on a page of another origin', () => {
  let browser: TestBrowser;
  before(async () => {
    browser = await TestBrowser.start();
  });
  after(() => browser[Symbol.asyncDispose]());

  test('works, and reads all headers, when CORS_ORIGINS has the origin', async (context) => {
    await using pages = await startPages();
    await using service = await startService({ corsOrigins: [pages.origin] });
    const page = await open(context, pages.origin);
    if (!page) return;
    const seen = await page.evaluate(
      async ([module, url, username, password]) => {
        const { createClient, RefusedError } = (await import(module)) as typeof clientModule;
        const books = createClient({ url, username, password });
        const created = await books.create({ title: 'The Iliad', author: 'Homer', year: -750 });
        const many = await books.createMany([{ title: 'Emma' }, { title: 'The Odyssey', author: 'Homer' }]);
        const [first] = await Array.fromAsync(books.list({ q: 'hom', limit: 1, count: true }).pages());
        const updated = await books.update(created.id, { year: -760 }, { ifMatch: created.etag ?? '' });
        const errors = [];
        for (const call of [
          () => books.update(created.id, { year: 0 }, { ifMatch: created.etag ?? '' }),
          () => books.createMany([{}, { year: 0.5 }]),
        ]) {
          const error = await call().catch((thrown) => thrown);
          if (error instanceof RefusedError) errors.push([error.status, error.invalidIndex]);
        }
        const isDeleted = await books.delete(created.id);
        return { created, many, first, updated, errors, isDeleted, absent: await books.find(created.id) };
      },
      ['/client/index.ts', service.url, USERNAME, PASSWORD] as const,
    );
    const { etag, ...iliad } = seen.created;
    assert.deepEqual(iliad, { id: 1, title: 'The Iliad', author: 'Homer', year: -750 });
    assert.match(etag ?? '', /^".+"$/);
    assert.deepEqual(
      seen.many.map(({ id }) => id),
      [2, 3],
    );
    assert.deepEqual([seen.first?.books, seen.first?.total], [[iliad], 2]);
    assert.ok(seen.first?.next);
    assert.equal(seen.updated?.year, -760);
    assert.notEqual(seen.updated?.etag, etag);
    assert.deepEqual(seen.errors, [
      [412, undefined],
      [400, 1],
    ]);
    assert.deepEqual([seen.isDeleted, seen.absent], [true, undefined]);
  });

  test('throws a NoResponseError when CORS_ORIGINS does not have the origin', async (context) => {
    await using pages = await startPages();
    await using service = await startService();
    const page = await open(context, pages.origin);
    if (!page) return;
    const reasonOfError = await page.evaluate(
      async ([module, url, username, password]) => {
        const { createClient, NoResponseError } = (await import(module)) as typeof clientModule;
        const books = createClient({ url, username, password, attemptsMax: 1 });
        const error: unknown = await books.find(1).catch((thrown) => thrown);
        return error instanceof NoResponseError ? error.reason : String(error);
      },
      ['/client/index.ts', service.url, USERNAME, PASSWORD] as const,
    );
    assert.equal(reasonOfError, 'network');
  });

  /** Opens an empty page, if a browser can be started. */
  async function open(context: TestContext, origin: string): Promise<Page | undefined> {
    const page = await (await browser.open(context))?.newPage();
    await page?.goto(origin);
    return page;
  }
});

interface Pages extends AsyncDisposable {
  readonly origin: string;
}

/** Serves an empty page, and our modules without types. */
async function startPages(): Promise<Pages> {
  const server = createServer(({ url = '/' }, response) => {
    if (!url.endsWith('.ts')) {
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>A page</title>');
      return;
    }
    const source = readFileSync(join(ROOT, normalize(url)), 'utf8');
    response.setHeader('Content-Type', 'text/javascript').end(stripTypeScriptTypes(source));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
