import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptedWeights, MEDIA_TYPES, PAGE_HEADERS, serveFile } from './static-files.ts';

/** The folder of the built console: an `index.html`, and files whose names contain a hash of their content. */
const FOLDER = new URL('../../console/dist/', import.meta.url);

/** The extensions of the compressed files that the build writes, the smallest ones first. */
const CODINGS = { br: '.br', gzip: '.gz' } as const;

/** A relative `Location`, which also works behind a proxy that adds a prefix to the path. */
const LOCATION = 'console/';

/** Whether the console is built. */
export function hasConsole(): boolean {
  return listFiles().has('index.html');
}

/** Serves the web console at `/console/`, or 404 if it was not built. */
export function serveConsole(app: FastifyInstance): void {
  const names = listFiles();
  for (const name of names) {
    if (!(extname(name) in MEDIA_TYPES)) continue;
    const isIndex = name === 'index.html';
    const codings = Object.entries(CODINGS).filter(([, extension]) => names.has(name + extension));
    serveFile(app, `/console/${isIndex ? '' : name}`, {
      name,
      isImmutable: !isIndex,
      read: preload(name),
      codings: Object.fromEntries(codings.map(([coding, extension]) => [coding, preload(name + extension)])),
    });
  }
  if (!names.has('index.html')) return;
  const name = 'features.json';
  const read = () =>
    Buffer.from(JSON.stringify({ history: app.hasRoute({ method: 'GET', url: '/changes' }) }));
  serveFile(app, `/console/${name}`, { name, read });
  app.get('/console', async (_request, reply) => reply.headers(PAGE_HEADERS).redirect(LOCATION, 308));
}

/** Reads a file now, because the next build removes it. */
function preload(name: string): () => Uint8Array {
  const bytes = readFileSync(new URL(name, FOLDER));
  return () => bytes;
}

function listFiles(): ReadonlySet<string> {
  try {
    return new Set(readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }));
  } catch {
    return new Set();
  }
}

/** Redirects `/`, which is no path of the API, for clients that prefer HTML to JSON. @returns whether it did */
export function redirectToConsole(request: FastifyRequest, reply: FastifyReply): boolean {
  const { method, url, headers, server } = request;
  const isRead = method === 'GET' || method === 'HEAD';
  if (!isRead || !/^\/(?:\?|$)/.test(url)) return false;
  if (!server.hasRoute({ method: 'GET', url: '/console/' })) return false;
  reply.header('vary', 'Accept');
  if (!prefersHtml(headers.accept ?? '')) return false;
  reply.headers(PAGE_HEADERS).redirect(LOCATION, 303);
  return true;
}

function prefersHtml(accept: string): boolean {
  const weights = acceptedWeights(accept);
  const anything = weights.get('*/*') ?? 0;
  const json = weights.get('application/json') ?? weights.get('application/*') ?? anything;
  return (weights.get('text/html') ?? weights.get('text/*') ?? anything) > json;
}
