import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { readVersion } from '../version.ts';
import { type OperationRoute, openApi } from './openapi.ts';
import type { OperationSchema } from './operations.ts';
import { isKnown } from './preconditions.ts';

/** The files of the page, which work without any other host. */
const FILES = {
  '/docs': ['page.html', 'text/html; charset=utf-8'],
  '/docs/page.css': ['page.css', 'text/css; charset=utf-8'],
  '/docs/icon.svg': ['icon.svg', 'image/svg+xml'],
  ...Object.fromEntries(
    ['page', 'description', 'dom', 'json', 'operation', 'session', 'trial'].map((name) => [
      `/docs/${name}.js`,
      [`${name}.js`, 'text/javascript; charset=utf-8'],
    ]),
  ),
} as const;

/** What the page may do (Content Security Policy, level 3): what comes from here, and nothing that stands in the page. */
const CONTENT_SECURITY_POLICY = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  `img-src 'self'`,
  `connect-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ');

/** What every file of a page is sent with, here and at `/console/`. */
export const PAGE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': 'no-referrer',
  // Kept by whoever wants to, but never without asking whether it is still the same.
  'cache-control': 'no-cache',
};

/**
 * Serves what tells of the API, to everybody and without an envelope: its description at `/openapi.json`, made of the
 * routes that come after this call, and the page at `/docs` that shows it and lets people try it.
 */
export function serveDocs(app: FastifyInstance): void {
  const routes: OperationRoute[] = [];
  app.addHook('onRoute', ({ method, url, schema }) => {
    const { operation } = (schema ?? {}) as Partial<OperationSchema>;
    if (operation && typeof method === 'string' && method !== 'HEAD') routes.push({ method, url, operation });
  });
  serve(app, '/openapi.json', 'application/json; charset=utf-8', async () => {
    return Buffer.from(JSON.stringify(openApi(routes, readVersion())));
  });
  for (const [path, [file, type]] of Object.entries(FILES)) {
    serve(app, path, type, () => readFile(new URL(`docs/${file}`, import.meta.url)));
  }
}

/** Serves bytes that are made when somebody asks for the first time. */
function serve(app: FastifyInstance, path: string, type: string, make: () => Promise<Buffer>): void {
  let content: { readonly bytes: Buffer; readonly tag: string } | undefined;
  app.get(path, async (request, reply) => {
    if (!content) {
      const bytes = await make();
      content = { bytes, tag: `"${hash('sha256', bytes, 'base64url')}"` };
    }
    reply.headers(PAGE_HEADERS).header('etag', content.tag);
    if (isKnown(content.tag, request.headers['if-none-match'])) return reply.code(304).send();
    return reply.type(type).send(content.bytes);
  });
}
