/**
 * A request target in the form that the router accepts: without the scheme and authority of the absolute form (RFC 9112,
 * section 3.2.2), and with the path as it was sent. The router decodes paths, so `%` is escaped once more: a path has one
 * spelling, which a proxy cannot read in another way, and `/%6detrics` is not `/metrics`.
 */
export function routableTarget(target: string): string {
  if (isUnescapedPath(target)) return target;
  const [, path = '', query = ''] =
    /^(?:https?:\/\/[^/?]*)?([^?]*)(.*)$/is.exec(target.replaceAll('#', '%23')) ?? [];
  return path.replaceAll('%', '%25') + query;
}

/** Whether it is a path without escapes, as nearly all targets are. */
function isUnescapedPath(target: string): boolean {
  return target.startsWith('/') && !target.includes('%') && !target.includes('#');
}
