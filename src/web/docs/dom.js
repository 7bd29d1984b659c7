/**
 * Makes an element.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Readonly<Record<string, string | boolean | ((event: Event) => void)>>} [attributes] a function listens to the
 *   event of this name
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name, value);
    else if (typeof value === 'boolean') made.toggleAttribute(name, value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/**
 * The one element that a selector finds.
 *
 * @template {Element} Kind
 * @param {string} selector
 * @param {new () => Kind} kind
 * @returns {Kind}
 */
export function find(selector, kind) {
  const found = document.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`there is no ${selector}`);
  return found;
}

/**
 * The paragraphs of a text in CommonMark.
 *
 * @param {string} text
 */
export function paragraphs(text) {
  return text.split(/\n\n+/).map((paragraph) => element('p', {}, ...phrases(paragraph)));
}

/**
 * A phrase of CommonMark. Of what that may have, descriptions have nothing but code.
 *
 * @param {string} text
 */
export function phrases(text) {
  return text.split(/`([^`]*)`/).map((part, index) => (index % 2 === 1 ? element('code', {}, part) : part));
}
