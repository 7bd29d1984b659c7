import type { IncomingMessage } from 'node:http';

/** What the preconditions of a request come to: carry on, or answer with this outcome. */
export type Verdict = 'met' | 'notModified' | 'preconditionFailed';

/** Whether a request has preconditions. */
export function isConditional({ headers }: IncomingMessage): boolean {
  return headers['if-match'] !== undefined || headers['if-none-match'] !== undefined;
}

/**
 * Judges the preconditions of a request for something that there is, in the order of RFC 9110, section 13.2.2.
 *
 * @param tag its strong entity tag
 */
export function judge({ method, headers }: IncomingMessage, tag: string): Verdict {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch !== undefined && !matchesAny(tag, ifMatch)) return 'preconditionFailed';
  if (!isCachedByClient(tag, ifNoneMatch)) return 'met';
  return method === 'GET' || method === 'HEAD' ? 'notModified' : 'preconditionFailed';
}

/** Whether a client has what a tag names, by weak comparison: the mark of weak tags does not count (section 13.1.2). */
export function isCachedByClient(tag: string, ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch !== undefined && matchesAny(tag, ifNoneMatch.replaceAll('W/"', '"'));
}

/** Whether a tag is among those of a header's value, by strong comparison; `*` stands for any. */
function matchesAny(tag: string, value: string): boolean {
  if (value.trim() === '*') return true;
  const tags: readonly string[] = value.match(ENTITY_TAGS) ?? [];
  return tags.includes(tag);
}

/** RFC 9110, section 8.8.3: text in quotes, in which commas may stand as well. */
const ENTITY_TAGS = /(?:W\/)?"[^"]*"/g;
