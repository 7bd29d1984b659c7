import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { assertError } from '../../testkit/assertions.ts';
import { type BareServer, startBareServer } from '../../testkit/bare-server.ts';
import { ROOT } from '../project/files.ts';

const FOLDER = join(ROOT, 'console/dist');
const FILES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.(html|css|js|svg)$/.test(name),
);

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The `Accept` headers of Firefox, Chromium and Safari for a typed URL. */
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

    test(`GET ${path} responds with the built file and a strict Content-Security-Policy`, async () => {
      const { status, headers, body } = await send('GET', path);
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

    test(`GET ${path} responds with the smallest encoding that the client accepts`, async () => {
      const shortest = await send('GET', path, { 'Accept-Encoding': 'gzip, deflate, br' });
      assert.equal(shortest.headers['content-encoding'], 'br');
      assert.ok(brotliDecompressSync(shortest.body).equals(content));
      const zipped = await send('GET', path, { 'Accept-Encoding': 'gzip;q=0.5, br;q=0' });
      assert.equal(zipped.headers['content-encoding'], 'gzip');
      assert.ok(gunzipSync(zipped.body).equals(content));
      const plain = await send('GET', path, { 'Accept-Encoding': 'identity' });
      assert.equal(plain.headers['content-encoding'], undefined);
      const tags = [shortest, zipped, plain].map(({ headers }) => headers.etag);
      assert.equal(new Set(tags).size, 3);
    });

    test(`GET ${path} with the current entity tag responds 304, and methods other than GET and HEAD respond 405`, async () => {
      const { headers } = await send('GET', path);
      const again = await send('GET', path, { 'If-None-Match': String(headers.etag) });
      assert.deepEqual([again.status, again.body.length], [304, 0]);
      assert.equal(again.headers.etag, headers.etag);
      const head = await send('HEAD', path);
      assert.deepEqual([head.status, head.body.length], [200, 0]);
      assert.equal((await send('POST', path)).status, 405);
    });
  }

  test('are the only ones: other paths respond 404', async () => {
    for (const path of ['index.html', '.built', 'nothing', 'assets', 'assets/', '..%2fpackage.json']) {
      assert.equal((await send('GET', `/console/${path}`)).status, 404, path);
    }
  });

  test('load at most 42 kB for the first paint, with the texts of one language', () => {
    const html = readFileSync(join(FOLDER, 'index.html'), 'utf8');
    const loaded = [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name = '']) => name);
    assert.ok(loaded.some((name) => name.endsWith('.js')) && loaded.some((name) => name.endsWith('.css')));
    const sizeOf = (name: string) => readFileSync(join(FOLDER, `${name}.br`)).length;
    const languages = FILES.filter((name) => /\b[a-z]{2}-[^/]*\.js$/.test(name)).map(sizeOf);
    const total = ['index.html', ...loaded].reduce((sum, name) => sum + sizeOf(name), Math.max(...languages));
    assert.ok(total <= 42_000, `${total} bytes`);
  });
});

describe('/', () => {
  test('redirects browsers to the console', async () => {
    for (const accept of BROWSERS) {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers, body } = await send(method, '/', { Accept: accept });
        assert.deepEqual([status, headers.location, body.length], [303, 'console/', 0], accept);
        assert.equal(headers.vary, 'Accept');
      }
    }
  });

  test('responds 404 to other clients', async () => {
    const others = ['*/*', 'application/json', 'application/json, text/html;q=0.9', 'text/html;q=0', ''];
    for (const accept of others) {
      assertError(await sendAs('GET', '/', accept), 404, 'Not found');
      assert.equal((await send('GET', '/', { Accept: accept })).headers.vary, 'Accept');
    }
    assertError(await sendAs('GET', '/'), 404, 'Not found');
  });

  test('responds 404 to other methods, as do other paths', async () => {
    for (const [method, path] of [
      ['POST', '/'],
      ['DELETE', '/'],
      ['OPTIONS', '/'],
      ['GET', '//'],
      ['GET', '/index.html'],
      ['GET', '/nothing'],
    ] as const) {
      assertError(await sendAs(method, path, BROWSERS[0]), 404, 'Not found');
    }
  });

  test('/console redirects to /console/', async () => {
    const { status, headers } = await send('GET', '/console');
    assert.deepEqual([status, headers.location], [308, 'console/']);
  });
});

/** Sends a request without changing its path, and does not decode the response. */
async function send(method: string, path: string, headers: Record<string, string> = {}) {
  const sent = request(new URL(server.url).origin, { method, path, headers });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray());
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

/** {@link send} for `assertError`. */
async function sendAs(method: string, path: string, accept?: string) {
  const response = await send(method, path, accept === undefined ? {} : { Accept: accept });
  const headers = new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)]));
  return { status: response.status, headers, body: response.body.toString() };
}
