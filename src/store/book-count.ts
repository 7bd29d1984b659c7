/** Counting stops here, as it reads every book. */
export const COUNTED_MAX = 1_000_000;

/** A count of books in words. @param count at most one more than {@link COUNTED_MAX} */
export function formatBookCount(count: number): string {
  if (count > COUNTED_MAX) return `more than ${COUNTED_MAX.toLocaleString('en')} books`;
  return `${count.toLocaleString('en')} ${count === 1 ? 'book' : 'books'}`;
}
