import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertError } from '../../testkit/assertions.ts';
import { type BareServer, startBareServer } from '../../testkit/bare-server.ts';
import { readText } from '../project/files.ts';

const FILES: Readonly<Record<string, string>> = {
  '/docs': 'src/web/docs/page.html',
  '/docs/page.css': 'src/web/docs/page.css',
  '/docs/page.js': 'src/web/docs/page.js',
  '/docs/icon.svg': 'src/web/docs/icon.svg',
  '/docs/swagger-ui.css': 'node_modules/swagger-ui-dist/swagger-ui.css',
  '/docs/swagger-ui-bundle.js': 'node_modules/swagger-ui-dist/swagger-ui-bundle.js',
};
const PATHS = ['/openapi.json', ...Object.keys(FILES)];

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  docs: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
};

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** Of `/docs` alone: Swagger UI has inline styles, and images in its style sheet. */
const DOCS_POLICY = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'").replace(
  "img-src 'self'",
  "img-src 'self' data:",
);

describe('/openapi.json and the files of /docs', () => {
  let server: BareServer;
  before(async () => {
    server = await startBareServer();
  });
  after(() => server[Symbol.asyncDispose]());

  for (const path of PATHS) {
    test(`GET ${path} responds with the file and its type, without a token`, async () => {
      const response = await fetch(server.url + path, { headers: { 'Accept-Encoding': 'identity' } });
      const content = await response.text();
      const zipped = await fetch(server.url + path, { headers: { 'Accept-Encoding': 'gzip' } });
      assert.equal(zipped.headers.get('content-encoding'), 'gzip');
      assert.equal(await zipped.text(), content);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), TYPES[path.split(/[/.]/).at(-1) ?? '']);
      assert.equal(response.headers.get('content-length'), String(Buffer.byteLength(content)));
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
      const policy = path === '/docs' ? DOCS_POLICY : POLICY;
      assert.equal(response.headers.get('content-security-policy'), policy);
      const { [path]: file } = FILES;
      if (file) assert.equal(content, readText(file));
    });

    test(`HEAD ${path} responds with the headers of GET, without content`, async () => {
      const [get, head] = [
        await fetch(server.url + path),
        await fetch(server.url + path, { method: 'HEAD' }),
      ];
      assert.equal(await head.text(), '');
      for (const name of ['content-type', 'content-length', 'etag', 'cache-control']) {
        assert.equal(head.headers.get(name), get.headers.get(name), name);
      }
    });

    test(`GET ${path} with a current ETag responds 304 (RFC 9110, section 13.1.2)`, async () => {
      const { headers } = await fetch(server.url + path);
      const tag = headers.get('etag') ?? '';
      assert.equal(headers.get('cache-control'), 'no-cache');
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const response = await ask(path, { headers: { 'If-None-Match': known } });
        assert.deepEqual([response.status, response.body], [304, ''], known);
        assert.equal(response.headers.get('etag'), tag);
      }
      assert.equal((await ask(path, { headers: { 'If-None-Match': '"other"' } })).status, 200);
    });

    test(`${path} responds 405 with Allow to other methods`, async () => {
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const response = await ask(path, { method });
        assertError(response, 405, 'Method not allowed');
        assert.equal(response.headers.get('allow'), 'GET, HEAD');
      }
    });
  }

  for (const path of [
    '/docs/',
    '/docs/page.html',
    '/docs/nothing',
    '/docs/..%2fdocs.ts',
    '/docs/swagger-ui.js',
    '/docs/page.js/',
    '/openapi_json',
    '/openapi.json/',
  ]) {
    test(`${path} responds 404 Not found to every method`, async () => {
      for (const method of ['GET', 'POST']) assertError(await ask(path, { method }), 404, 'Not found');
    });
  }

  async function ask(path: string, init: RequestInit) {
    const response = await fetch(server.url + path, init);
    return { status: response.status, headers: response.headers, body: await response.text() };
  }
});
