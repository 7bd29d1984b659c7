import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { contentSecurityPolicy, serveFile } from './static-files.ts';

const compress = promisify(gzip);

/** Swagger UI has inline styles, and images in its style sheet. */
const POLICY = contentSecurityPolicy({ styles: "'self' 'unsafe-inline'", images: "'self' data:" });

/** The files of the page at `/docs`: Swagger UI, and what configures it. */
const FILES = {
  '/docs': './docs/page.html',
  '/docs/page.css': './docs/page.css',
  '/docs/page.js': './docs/page.js',
  '/docs/icon.svg': './docs/icon.svg',
  '/docs/swagger-ui.css': 'swagger-ui-dist/swagger-ui.css',
  '/docs/swagger-ui-bundle.js': 'swagger-ui-dist/swagger-ui-bundle.js',
};

/** Serves the page at `/docs`, and the description of the API that it shows. @param openApi makes `/openapi.json` */
export function serveDocs(app: FastifyInstance, openApi: () => object): void {
  serve('/openapi.json', 'openapi.json', async () => Buffer.from(JSON.stringify(openApi())));
  for (const [path, name] of Object.entries(FILES)) {
    serve(path, name, () => readFile(new URL(import.meta.resolve(name))));
  }

  function serve(path: string, name: string, read: () => Promise<Uint8Array>) {
    const policy = path === '/docs' ? POLICY : undefined;
    serveFile(app, path, { name, read, policy, codings: { gzip: async () => compress(await read()) } });
  }
}
