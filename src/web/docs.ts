import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { type OperationRoute, openApi } from '../api/description/openapi.ts';
import type { OperationSchema } from '../api/description/operations.ts';
import { readVersion } from '../config/version.ts';
import { MEDIA_TYPES, serveFile } from './static-files.ts';

/** The files of the page at `/docs`, which loads nothing from another host. */
const FILES = [
  'page.css',
  'icon.svg',
  ...['page', 'description', 'dom', 'json', 'operation', 'session', 'trial'].map((name) => `${name}.js`),
];

/**
 * Serves the description of the API: `/openapi.json`, made of the routes that are added after this call, and the page
 * at `/docs` that shows it and sends requests.
 */
export function serveDocs(app: FastifyInstance): void {
  const routes: OperationRoute[] = [];
  app.addHook('onRoute', ({ method, url, schema }) => {
    const { operation } = (schema ?? {}) as Partial<OperationSchema>;
    if (operation && typeof method === 'string' && method !== 'HEAD') routes.push({ method, url, operation });
  });
  serveFile(app, '/openapi.json', {
    mediaType: MEDIA_TYPES['.json'] as string,
    read: () => Buffer.from(JSON.stringify(openApi(routes, readVersion()))),
  });
  serveDocsFile(app, '/docs', 'page.html');
  for (const name of FILES) serveDocsFile(app, `/docs/${name}`, name);
}

function serveDocsFile(app: FastifyInstance, path: string, name: string): void {
  serveFile(app, path, {
    mediaType: MEDIA_TYPES[extname(name)] as string,
    read: () => readFile(new URL(`docs/${name}`, import.meta.url)),
  });
}
