/**
 * A condition in SQL that is true, or an error with which the statement changes nothing. For example, a trigger of the table leaves out one
 * of three books: `failUnless('3 = 2')` divides by zero (SQLSTATE 22012), which `toTableRejection` turns into `LEFT_OUT`.
 */
export const failUnless = (condition: string) => `1 / (case when ${condition} then 1 else 0 end) = 1`;

/** Joins JSON arrays to one: the parameter of a statement on many books. */
export function joinArrays(arrays: readonly Uint8Array[]): Buffer {
  const elements = arrays
    .flatMap((array) => (array.length > 2 ? [COMMA, array.subarray(1, -1)] : []))
    .slice(1);
  return Buffer.concat([OPEN, ...elements, CLOSE]);
}

const [OPEN, COMMA, CLOSE] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];
