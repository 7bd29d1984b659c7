/** Beyond this books are not counted: that would take a look at every one of them. */
export const COUNTED_MAX = 1_000_000;

/** How many books there are, of at most one more than {@link COUNTED_MAX}, in words. */
export function formatBookCount(count: number): string {
  if (count > COUNTED_MAX) return `more than ${COUNTED_MAX.toLocaleString('en')} books`;
  return `${count.toLocaleString('en')} ${count === 1 ? 'book' : 'books'}`;
}
