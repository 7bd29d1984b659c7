/**
 * A request target in the form that the router accepts: without the scheme and authority of the absolute form (RFC 9112,
 * section 3.2.2), and without escapes in its path, which the router would decode: a path has one spelling, which a proxy cannot
 * read in another way, and `/%6detrics` is not `/metrics`. No route and no id has the `~` instead; were `%` escaped once more, the
 * router would take 4 ms to decode a stranger's path of 15 KiB.
 */
export function routableTarget(target: string): string {
  if (isUnescapedPath(target)) return target;
  const [, path = '', query = ''] =
    /^(?:https?:\/\/[^/?]*)?([^?]*)(.*)$/is.exec(target.replaceAll('#', '%23')) ?? [];
  return path.replaceAll('%', '~') + query;
}

/** Whether it is a path without escapes, as nearly all targets are. */
function isUnescapedPath(target: string): boolean {
  return target.startsWith('/') && !target.includes('%') && !target.includes('#');
}
