/** Makes named tokens of each. */
export function named<Item>(
  items: Iterable<Item>,
  make: (item: Item) => readonly (readonly [name: string, token: string])[],
): Record<string, string> {
  return Object.fromEntries([...items].flatMap(make));
}
