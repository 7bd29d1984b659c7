/** The length of a request body, and of one with many books. */
export const BODY_BYTES_MAX = 1_024 * 1_024;
export const BOOKS_BYTES_MAX = 16 * BODY_BYTES_MAX;

export function formatMebibytes(bytes: number): string {
  return `${bytes / 1_024 / 1_024} MiB`;
}
