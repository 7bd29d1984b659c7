/** What a keyboard event says of its key. */
interface Key {
  readonly key: string;
  readonly code: string;
  readonly isComposing: boolean;
  readonly keyCode: number;
}

/**
 * Whether a key belongs to an input method, such as the Enter that ends a composition. Safari sends this one after the end, with the
 * `keyCode` 229 that all keys of input methods have (UI Events, legacy attributes).
 */
export function isOfInputMethod({ isComposing, keyCode }: Key): boolean {
  return isComposing || keyCode === 229;
}

/**
 * The letter of a command: the key's or, on a keyboard of another script such as Cyrillic, that of the same place on a Latin one, which
 * is its `code`.
 */
export function commandLetter({ key, code }: Pick<Key, 'key' | 'code'>): string {
  const isOtherScript = /^(?=\p{Letter})\P{Script=Latin}$/u.test(key);
  return (isOtherScript ? code.replace(/^Key/, '') : key).toLowerCase();
}
