import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CONSOLE_FOLDER, listConsoleFiles } from '../console-folder.ts';
import { PAGE_HEADERS } from './docs.ts';
import { isKnown } from './preconditions.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** What a file is also there as: the ending of its compressed form by its name in HTTP, the shortest one first. */
const CODINGS = { br: '.br', gzip: '.gz' } as const;

/**
 * Serves the page for people at `/console/`, to everybody and without an envelope. It is a client of the API like any
 * other. Where it has not been built there is nothing.
 */
export function serveConsole(app: FastifyInstance): void {
  const files = listConsoleFiles();
  for (const file of files) {
    if (TYPES[extname(file)]) serve(app, file, files);
  }
  if (!files.has('index.html')) return;
  app.get('/console', async (_request, reply) => reply.headers(PAGE_HEADERS).redirect(PLACE, 308));
}

/** Relative, so that it also leads there behind a proxy that puts a path in front. */
const PLACE = 'console/';

/** A file as it is sent: its bytes, and the entity tag of these. */
interface Content {
  readonly bytes: Buffer;
  readonly tag: string;
}

/**
 * Serves a file, in the shortest form that its client takes. All forms are read at the start: they are small, and another
 * build may take them away.
 */
function serve(app: FastifyInstance, file: string, files: ReadonlySet<string>): void {
  const isIndex = file === 'index.html';
  const headers = {
    ...PAGE_HEADERS,
    'content-type': TYPES[extname(file)],
    'cache-control': isIndex ? 'no-cache' : 'public, max-age=31536000, immutable',
    vary: 'Accept-Encoding',
  };
  const plain = readContent(file);
  const compressed = new Map(
    Object.entries(CODINGS)
      .filter(([, ending]) => files.has(file + ending))
      .map(([coding, ending]) => [coding, readContent(file + ending)]),
  );
  app.get(`/console/${isIndex ? '' : file}`, async (request, reply) => {
    const coding = codingOf(request.headers['accept-encoding'] ?? '', compressed.keys());
    const { bytes, tag } = compressed.get(coding ?? '') ?? plain;
    reply.headers(headers).header('etag', tag);
    if (isKnown(tag, request.headers['if-none-match'])) return reply.code(304).send();
    if (coding) reply.header('content-encoding', coding);
    return reply.send(bytes);
  });
}

function readContent(name: string): Content {
  const bytes = readFileSync(new URL(name, CONSOLE_FOLDER));
  return { bytes, tag: `"${hash('sha256', bytes, 'base64url')}"` };
}

/** The first of some codings that a client takes (RFC 9110, section 12.5.3); undefined for the file as it is. */
function codingOf(accepted: string, codings: Iterator<string, undefined>): string | undefined {
  const weights = weightsOf(accepted);
  return Iterator.from(codings).find((coding) => (weights.get(coding) ?? 0) > 0);
}

/**
 * Leads from `/`, where the API has nothing, to the page: those who would rather see HTML than JSON, which is browsers.
 *
 * @returns whether the request is answered with that
 */
export function leadToConsole(app: FastifyInstance, { raw }: FastifyRequest, reply: FastifyReply): boolean {
  const isRead = raw.method === 'GET' || raw.method === 'HEAD';
  if (!isRead || !/^\/(?:\?|$)/.test(raw.url ?? '')) return false;
  if (!app.hasRoute({ method: 'GET', url: '/console/' })) return false;
  reply.header('vary', 'Accept');
  if (!prefersHtml(raw.headers.accept ?? '')) return false;
  reply.headers(PAGE_HEADERS).redirect(PLACE, 303);
  return true;
}

function prefersHtml(accepted: string): boolean {
  const weights = weightsOf(accepted);
  const anything = weights.get('*/*') ?? 0;
  const json = weights.get('application/json') ?? weights.get('application/*') ?? anything;
  return (weights.get('text/html') ?? weights.get('text/*') ?? anything) > json;
}

/** What a client takes, by its weight from 0 to 1 (RFC 9110, section 12.4.2). */
function weightsOf(header: string): ReadonlyMap<string, number> {
  return new Map(
    header.split(',').map((item) => {
      const [name = '', ...parameters] = item.toLowerCase().split(';');
      const weight = parameters.map((parameter) => /^\s*q=([0-9.]+)\s*$/.exec(parameter)?.[1]).find(Boolean);
      return [name.trim(), weight === undefined ? 1 : Number(weight)];
    }),
  );
}
