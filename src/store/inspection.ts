/** Counting stops here, as it reads every book. */
export const COUNTED_MAX = 1_000_000;

/** A count of books in words. @param count at most one more than {@link COUNTED_MAX} */
export function formatBookCount(count: number): string {
  if (count > COUNTED_MAX) return `more than ${COUNTED_MAX.toLocaleString('en')} books`;
  return `${count.toLocaleString('en')} ${count === 1 ? 'book' : 'books'}`;
}

/** Whether a column, where it is not null, marks rows as deleted: `deleted_at` of GORM and Rails, `deletedAt` of Sequelize. */
export function isMark(column: string): boolean {
  return /^deleted_?at$/i.test(column);
}

/** What operators should know of the rows that a column marks as deleted. */
export function describeMarked(column: string, count: number): string[] {
  if (count === 0) return [];
  return [
    `${column} marks ${formatBookCount(count)} as deleted, which would be books again: see docs/migrating.md`,
  ];
}
