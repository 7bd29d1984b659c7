import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { assertRefusal } from '../http/answers.ts';
import { type BareServer, startBareServer } from '../openapi/server.ts';
import { ROOT } from '../project/files.ts';

const FOLDER = join(ROOT, 'console/dist');
const FILES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.(html|css|js|svg)$/.test(name),
);

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** What Firefox, Chromium and Safari send when somebody types an address. */
const BROWSERS = [
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  'text/html',
];

let server: BareServer;
before(async () => {
  server = await startBareServer();
});
after(() => server[Symbol.asyncDispose]());

describe('The files of /console/', () => {
  for (const file of FILES) {
    const path = `/console/${file === 'index.html' ? '' : file}`;
    const content = readFileSync(join(FOLDER, file));

    test(`${path} is what was built, under a strict policy`, async () => {
      const { status, headers, body } = await ask('GET', path);
      assert.equal(status, 200);
      assert.ok(body.equals(content));
      assert.equal(headers['content-security-policy'], POLICY);
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['referrer-policy'], 'no-referrer');
      assert.equal(headers.vary, 'Accept-Encoding');
      assert.equal(
        headers['cache-control'],
        file === 'index.html' ? 'no-cache' : 'public, max-age=31536000, immutable',
      );
    });

    test(`${path} comes compressed to those who take that, the shortest form first`, async () => {
      const shortest = await ask('GET', path, { 'Accept-Encoding': 'gzip, deflate, br' });
      assert.equal(shortest.headers['content-encoding'], 'br');
      assert.ok(brotliDecompressSync(shortest.body).equals(content));
      const zipped = await ask('GET', path, { 'Accept-Encoding': 'gzip;q=0.5, br;q=0' });
      assert.equal(zipped.headers['content-encoding'], 'gzip');
      assert.ok(gunzipSync(zipped.body).equals(content));
      const plain = await ask('GET', path, { 'Accept-Encoding': 'identity' });
      assert.equal(plain.headers['content-encoding'], undefined);
      const tags = [shortest, zipped, plain].map(({ headers }) => headers.etag);
      assert.equal(new Set(tags).size, 3);
    });

    test(`${path} is not sent again to who has it, and has no other methods`, async () => {
      const { headers } = await ask('GET', path);
      const again = await ask('GET', path, { 'If-None-Match': String(headers.etag) });
      assert.deepEqual([again.status, again.body.length], [304, 0]);
      assert.equal(again.headers.etag, headers.etag);
      const head = await ask('HEAD', path);
      assert.deepEqual([head.status, head.body.length], [200, 0]);
      assert.equal((await ask('POST', path)).status, 405);
    });
  }

  test('are all that there is', async () => {
    for (const path of ['index.html', '.built', 'nothing', 'assets', 'assets/', '..%2fpackage.json']) {
      assert.equal((await ask('GET', `/console/${path}`)).status, 404, path);
    }
  });

  test('make a first paint of less than 60 kB', () => {
    const html = readFileSync(join(FOLDER, 'index.html'), 'utf8');
    const loaded = [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name = '']) => name);
    assert.ok(loaded.some((name) => name.endsWith('.js')) && loaded.some((name) => name.endsWith('.css')));
    const bytes = ['index.html', ...loaded].map((name) => readFileSync(join(FOLDER, `${name}.br`)).length);
    const total = bytes.reduce((sum, length) => sum + length, 0);
    assert.ok(total < 60_000, `${total} bytes`);
  });
});

describe('/', () => {
  test('leads browsers to the page', async () => {
    for (const accept of BROWSERS) {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers, body } = await ask(method, '/', { Accept: accept });
        assert.deepEqual([status, headers.location, body.length], [303, 'console/', 0], accept);
        assert.equal(headers.vary, 'Accept');
      }
    }
  });

  test('is 404 Not found to everybody else', async () => {
    const others = ['*/*', 'application/json', 'application/json, text/html;q=0.9', 'text/html;q=0', ''];
    for (const accept of others) {
      assertRefusal(await asked('GET', '/', accept), 404, 'Not found');
      assert.equal((await ask('GET', '/', { Accept: accept })).headers.vary, 'Accept');
    }
    assertRefusal(await asked('GET', '/'), 404, 'Not found');
  });

  test('is 404 Not found for other methods, and so are other paths', async () => {
    for (const [method, path] of [
      ['POST', '/'],
      ['DELETE', '/'],
      ['OPTIONS', '/'],
      ['GET', '//'],
      ['GET', '/index.html'],
      ['GET', '/nothing'],
    ] as const) {
      assertRefusal(await asked(method, path, BROWSERS[0]), 404, 'Not found');
    }
  });

  test('without its slash the page is elsewhere, and leads there', async () => {
    const { status, headers } = await ask('GET', '/console');
    assert.deepEqual([status, headers.location], [308, 'console/']);
  });
});

/** Sends a request as it is, and reads the answer as it comes. */
async function ask(method: string, path: string, headers: Record<string, string> = {}) {
  const asking = request(new URL(server.url).origin, { method, path, headers });
  asking.end();
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray());
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

/** The same in the form of other tests. */
async function asked(method: string, path: string, accept?: string) {
  const answer = await ask(method, path, accept === undefined ? {} : { Accept: accept });
  const headers = new Headers(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]));
  return { status: answer.status, headers, body: answer.body.toString() };
}
