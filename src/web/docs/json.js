import { element } from './dom.js';

/** Strings, with the colon after names, and other values. */
const TOKENS = /("(?:\\.|[^"\\])*")(\s*:)?|(-?[0-9][0-9.eE+-]*|true|false|null)/g;

/**
 * A value as indented JSON with syntax highlighting.
 *
 * @param {unknown} value
 * @returns {(Node | string)[]}
 */
export function json(value) {
  const text = JSON.stringify(value, null, 2);
  /** @type {(Node | string)[]} */
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(TOKENS)) {
    const [all, string, colon = '', other = ''] = match;
    const kind = colon === '' ? (string === undefined ? 'value' : 'string') : 'name';
    parts.push(text.slice(end, match.index), element('span', { class: kind }, string ?? other), colon);
    end = match.index + all.length;
  }
  return [...parts, text.slice(end)];
}

/**
 * @param {string} text
 * @returns {any} the value, or undefined when it is not JSON
 */
export function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
