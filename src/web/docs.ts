import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { hasConsole } from './console.ts';
import { serveFile } from './static-files.ts';

/** The files of the page at `/docs`, which loads nothing from another host. */
const FILES = [
  'page.html',
  'page.css',
  'design.css',
  'icon.svg',
  ...['page', 'description', 'dom', 'json', 'operation', 'session', 'theme', 'trial'].map(
    (name) => `${name}.js`,
  ),
];

/** Serves the page at `/docs`, and the description of the API that it shows. @param openApi makes `/openapi.json` at each request */
export function serveDocs(app: FastifyInstance, openApi: () => object): void {
  serveFile(app, '/openapi.json', {
    name: 'openapi.json',
    read: () => Buffer.from(JSON.stringify(openApi())),
  });
  for (const name of FILES) {
    serveFile(app, name === 'page.html' ? '/docs' : `/docs/${name}`, {
      name,
      read: () => readDocsFile(name),
    });
  }
}

/** Without a console that is built, the page has no link to it. */
async function readDocsFile(name: string): Promise<Uint8Array> {
  const content = await readFile(new URL(`docs/${name}`, import.meta.url));
  if (name !== 'page.html' || hasConsole()) return content;
  return Buffer.from(content.toString().replace(/<a class="console".*<\/a>/, ''));
}
