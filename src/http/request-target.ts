/**
 * A request target in the form that the router accepts: without the scheme and authority of the absolute form (RFC 9112,
 * section 3.2.2), and with invalid escapes taken literally, so that they match no path and no id.
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
