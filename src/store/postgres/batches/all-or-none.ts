/**
 * A condition that ends its statement with an error, so that nothing is changed, where it would be false. For example, a trigger of the
 * table leaves out one of three books: then `failUnless('3 = 2')` divides by zero, and of that error (SQLSTATE 22012) `toRejection` in
 * rejections.ts makes the rejection `LEFT_OUT`.
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
