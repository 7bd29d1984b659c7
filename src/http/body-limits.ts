/** The most bytes of a body with one book, and of each book of many. */
export const BODY_BYTES_MAX = 1_024 * 1_024;
/** Of the body of a login. */
export const LOGIN_BYTES_MAX = 16 * 1_024;
/** Of a body with many books. */
export const BOOKS_BYTES_MAX = 16 * BODY_BYTES_MAX;

/** A length in KiB or MiB, of which it is a whole number. */
export function formatBytes(bytes: number): string {
  const kibibytes = bytes / 1_024;
  return kibibytes < 1_024 ? `${kibibytes} KiB` : `${kibibytes / 1_024} MiB`;
}
