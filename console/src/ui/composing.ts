/**
 * Whether a key belongs to an input method, such as Enter and Esc that end a composition. Safari sends this one after the end, with the code
 * of all keys of input methods, 229 (UI Events, section 7.3.1).
 */
export function isOfInputMethod({ isComposing, keyCode }: KeyboardEvent): boolean {
  return isComposing || keyCode === 229;
}
