import type { IncomingHttpHeaders } from 'node:http';

/** The part of a request that preconditions need. */
type ConditionalRequest = { readonly method: string; readonly headers: IncomingHttpHeaders };

/** Whether a request has `If-Match` or `If-None-Match`, for which the resource must be read. */
export function isConditional({ headers }: Pick<ConditionalRequest, 'headers'>): boolean {
  return headers['if-match'] !== undefined || headers['if-none-match'] !== undefined;
}

/** Evaluates preconditions in the order of RFC 9110, section 13.2.2. @param tag the strong entity tag of the resource */
export function evaluatePreconditions({ method, headers }: ConditionalRequest, tag: string) {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch !== undefined && !matchesAny(tag, ifMatch)) return 'preconditionFailed';
  if (!isCachedByClient(tag, ifNoneMatch)) return 'met';
  return method === 'GET' || method === 'HEAD' ? 'notModified' : 'preconditionFailed';
}

/** Whether a tag is in `If-None-Match`, by weak comparison (RFC 9110, section 13.1.2). */
export function isCachedByClient(tag: string, ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch !== undefined && matchesAny(tag, ifNoneMatch.replaceAll('W/"', '"'));
}

/** Whether a tag is in the value of a header, by strong comparison; `*` matches every tag. */
function matchesAny(tag: string, value: string): boolean {
  return value.trim() === '*' || tagsIn(value).includes(tag);
}

/** The strong tags in the value of `If-Match`, with commas between them; undefined for `*`. */
export function strongTags(value: string): string | undefined {
  if (value.trim() === '*') return undefined;
  return tagsIn(value)
    .filter((tag) => tag.startsWith('"'))
    .join(',');
}

function tagsIn(value: string): readonly string[] {
  return value.match(ENTITY_TAGS) ?? [];
}

/** RFC 9110, section 8.8.3: quoted text, which may contain commas. */
const ENTITY_TAGS = /(?:W\/)?"[^"]*"/g;
