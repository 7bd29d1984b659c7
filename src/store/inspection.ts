/** Counting stops here, as it reads every book. */
export const COUNTED_MAX = 1_000_000;

/** A count of books in words. @param count at most one more than {@link COUNTED_MAX} */
export function formatBookCount(count: number): string {
  if (count > COUNTED_MAX) return `more than ${COUNTED_MAX.toLocaleString('en')} books`;
  return `${count.toLocaleString('en')} ${count === 1 ? 'book' : 'books'}`;
}

/** What operators should know of rows that GORM has marked as deleted, which only sets their column `deleted_at`. */
export function describeMarked(count: number): string[] {
  if (count === 0) return [];
  return [
    `deleted_at marks ${formatBookCount(count)} as deleted, which would be books again: see docs/migrating.md`,
  ];
}
