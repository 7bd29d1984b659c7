/** The folded title and author: the server itself folds short texts of ASCII, which are in the sort keys. */
export const [TITLE_LOWER, AUTHOR_LOWER] = ['title', 'author'].map(
  (column) => `coalesce(${column}_lower, lower(split_part(${column}_key, E'\\x01', 2)))`,
) as [string, string];

/** @returns null for a text that {@link TITLE_LOWER} computes */
export function storedLower(text: string, key: string, lower: string): string | null {
  return SHORT_ASCII.test(text) && key.endsWith(`\u0001${text}`) ? null : lower;
}

const SHORT_ASCII = /^[ -~]{0,100}$/;
