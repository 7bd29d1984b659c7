/**
 * Makes an element.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Readonly<Record<string, string | boolean | ((event: Event) => void)>>} [attributes] functions are listeners of
 *   the event of this name
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
 * The element of a selector.
 *
 * @template {Element} Kind
 * @param {string} selector
 * @param {new () => Kind} kind
 * @returns {Kind}
 */
export function find(selector, kind) {
  const found = document.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`no element matches ${selector}`);
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
 * A phrase of CommonMark, of which only code is supported.
 *
 * @param {string} text
 */
export function phrases(text) {
  return text.split(/`([^`]*)`/).map((part, index) => (index % 2 === 1 ? element('code', {}, part) : part));
}

/**
 * A block of code with a button that copies its text.
 *
 * @param {string} what the content, for the name of the button
 * @param {HTMLPreElement} block
 */
export function copyable(what, block) {
  const button = element('button', { type: 'button', 'aria-label': `Copy ${what}`, click }, 'Copy');
  return element('div', { class: 'copyable' }, block, button);

  function click() {
    void copy();
  }

  async function copy() {
    // Without the clipboard, as on a page without TLS, the selected text is left to the user.
    getSelection()?.selectAllChildren(block);
    const isCopied = await navigator.clipboard?.writeText(block.textContent).then(
      () => true,
      () => false,
    );
    button.textContent = isCopied ? 'Copied' : 'Press Ctrl+C';
    const status = find('#copied', HTMLElement);
    status.textContent = button.textContent;
    setTimeout(() => {
      button.textContent = 'Copy';
      status.textContent = '';
    }, 2000);
  }
}
