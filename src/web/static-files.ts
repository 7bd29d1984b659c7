import { hash } from 'node:crypto';
import { extname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { isCachedByClient } from '../http/preconditions.ts';

/** Scripts, styles, images and requests only from this host; nothing inline, unless an argument allows it (CSP level 3). */
export function contentSecurityPolicy({ styles = "'self'", images = "'self'" } = {}): string {
  return (
    `default-src 'none'; script-src 'self'; style-src ${styles}; img-src ${images}; connect-src 'self'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  );
}

/** The headers of every page and file. */
export const PAGE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': contentSecurityPolicy(),
  'referrer-policy': 'no-referrer',
  // Caches revalidate what they keep (RFC 9111, section 5.2.2.4).
  'cache-control': 'no-cache',
};

export const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** A file that is served without a token and without the envelope. */
interface StaticFile {
  /** Its name, whose extension determines the media type. */
  readonly name: string;
  /** Whether the name of the file changes with its content, so that caches need not revalidate it. */
  readonly isImmutable?: boolean;
  /** Its Content-Security-Policy, if it is another one. */
  readonly policy?: string | undefined;
  /** Reads the file; called once, at the first request. */
  readonly read: Read;
  /** The compressed forms by their content coding, in order of preference. */
  readonly codings?: Readonly<Record<string, Read>>;
}

type Read = () => Promise<Uint8Array> | Uint8Array;

/** Serves a file at a path: compressed if the client accepts that, or 304 if the client has it. */
export function serveFile(app: FastifyInstance, path: string, file: StaticFile): void {
  const { name, isImmutable = false, policy, read, codings = {} } = file;
  const headers = {
    ...PAGE_HEADERS,
    'content-type': MEDIA_TYPES[extname(name)],
    ...(policy && { 'content-security-policy': policy }),
    ...(isImmutable && { 'cache-control': 'public, max-age=31536000, immutable' }),
    ...(file.codings && { vary: 'Accept-Encoding' }),
  };
  const contents = new Map<string | undefined, ReturnType<typeof readContent>>();

  app.get(path, async (request, reply) => {
    const weights = acceptedWeights(request.headers['accept-encoding'] ?? '');
    const coding = Object.keys(codings).find((each) => (weights.get(each) ?? 0) > 0);
    const content = contents.get(coding) ?? readContent(codings[coding ?? ''] ?? read);
    contents.set(coding, content);
    const { bytes, tag } = await content;
    reply.headers(headers).header('etag', tag);
    if (isCachedByClient(tag, request.headers['if-none-match'])) return reply.code(304).send();
    if (coding !== undefined) reply.header('content-encoding', coding);
    return reply.send(bytes);
  });
}

async function readContent(read: Read) {
  const bytes = await read();
  return { bytes, tag: `"${hash('sha256', bytes, 'base64url')}"` };
}

/** The weights from 0 to 1 in an `Accept` or `Accept-Encoding` header, by name (RFC 9110, section 12.4.2). */
export function acceptedWeights(header: string): ReadonlyMap<string, number> {
  return new Map(
    header.split(',').map((item) => {
      const [name = '', ...parameters] = item.toLowerCase().split(';');
      const weight = parameters.map((parameter) => /^\s*q=([0-9.]+)\s*$/.exec(parameter)?.[1]).find(Boolean);
      return [name.trim(), weight === undefined ? 1 : Number(weight)];
    }),
  );
}
