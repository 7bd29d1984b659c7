import { copyable, element } from './dom.js';
import { json, parse } from './json.js';
import { showStatus } from './operation.js';

/** @import { Request } from './trial.js' */

/** The bytes of a response that are shown. */
const BYTES_MAX = 256 * 1024;

/**
 * Sends a request, and shows the response while it arrives.
 *
 * @param {Request} request
 * @param {HTMLElement} status for its status
 * @param {HTMLElement} content for its body and headers
 * @param {AbortSignal} signal
 * @returns {Promise<number>} the status
 * @throws when there is no response, or it breaks off
 */
export async function showResponse({ method, target, headers, body }, status, content, signal) {
  content.replaceChildren();
  status.replaceChildren();
  const startedMs = performance.now();
  // Relative to the page, which may be served under another path.
  const response = await fetch(target.slice(1), {
    method,
    headers,
    signal,
    ...(body !== undefined && { body }),
  });
  const ms = Math.round(performance.now() - startedMs);
  const block = element('pre', {
    class: 'body',
    tabindex: '0',
    role: 'group',
    'aria-label': 'Body of the response',
  });
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  status.append(
    showStatus(response.status),
    element('strong', {}, response.statusText),
    element('span', { class: 'hint' }, `${ms} ms`),
  );
  content.append(
    copyable('the response', block),
    element('details', {}, element('summary', {}, 'Headers'), element('pre', {}, lines.join('\n'))),
  );
  content.scrollIntoView({ block: 'nearest' });
  const isComplete = await read(response, (text) => block.append(text));
  if (!isComplete) content.prepend(element('p', { class: 'hint' }, 'The beginning of a long response:'));
  const value = isComplete ? parse(block.textContent) : undefined;
  if (value !== undefined) block.replaceChildren(...json(value));
  if (response.ok) suggestId(value?.data?.id);
  content.scrollIntoView({ block: 'nearest' });
  return response.status;
}

/**
 * Reads a response, or its beginning when it is long.
 *
 * @param {Response} response
 * @param {(text: string) => void} onText
 * @returns whether that was all
 */
async function read(response, onText) {
  const reader = (response.body ?? new Blob().stream()).getReader();
  const decoder = new TextDecoder();
  for (let length = 0; length < BYTES_MAX; ) {
    const { done, value } = await reader.read();
    if (done) return true;
    length += value.length;
    onText(decoder.decode(value, { stream: true }));
  }
  await reader.cancel();
  return false;
}

/**
 * Fills in the id of the last book in all forms, unless the user has edited it.
 *
 * @param {number | undefined} id
 */
function suggestId(id) {
  if (id === undefined) return;
  for (const input of document.querySelectorAll('input[name=id]')) {
    if (!(input instanceof HTMLInputElement) || input.value !== input.defaultValue) continue;
    input.defaultValue = String(id);
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }
}
