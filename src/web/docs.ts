import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { hasConsole } from './console.ts';
import { serveFile } from './static-files.ts';

const compress = promisify(gzip);

const SCRIPTS = 'page description dom fields json operation response session theme trial'.split(' ');

/** The files of the page at `/docs`, which loads nothing from another host. */
const FILES = ['page.html', 'page.css', 'design.css', 'icon.svg', ...SCRIPTS.map((name) => `${name}.js`)];

/** Serves the page at `/docs`, and the description of the API that it shows. @param openApi makes `/openapi.json` */
export function serveDocs(app: FastifyInstance, openApi: () => object): void {
  serve('/openapi.json', 'openapi.json', async () => Buffer.from(JSON.stringify(openApi())));
  for (const name of FILES) {
    serve(name === 'page.html' ? '/docs' : `/docs/${name}`, name, () => readDocsFile(name));
  }

  function serve(path: string, name: string, read: () => Promise<Uint8Array>) {
    serveFile(app, path, { name, read, codings: { gzip: async () => compress(await read()) } });
  }
}

/** Without a console that is built, the page has no link to it. */
async function readDocsFile(name: string): Promise<Uint8Array> {
  const content = await readFile(new URL(`docs/${name}`, import.meta.url));
  if (name !== 'page.html' || hasConsole()) return content;
  return Buffer.from(content.toString().replace(/<a class="console".*<\/a>/, ''));
}
