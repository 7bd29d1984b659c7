/**
 * A request target as the router can take it: without the scheme and authority of the absolute form (RFC 9112,
 * section 3.2.2), and with what is no escape taken literally, so that it is no id and no path.
 */
export function routableTarget(target: string): string {
  if (isUnescapedPath(target)) return target;
  const [, path = '', query = ''] =
    /^(?:https?:\/\/[^/?]*)?([^?]*)(.*)$/is.exec(target.replaceAll('#', '%23')) ?? [];
  try {
    decodeURIComponent(path);
    return path + query;
  } catch {
    return path.replaceAll('%', '%25') + query;
  }
}

/** Whether it is a path without escapes, as nearly all targets are. */
function isUnescapedPath(target: string): boolean {
  return target.startsWith('/') && !target.includes('%') && !target.includes('#');
}
