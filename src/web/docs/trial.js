import { element } from './dom.js';
import { json } from './json.js';

/**
 * @import { Description, Operation, Parameter } from './description.js'
 * @import { Session } from './session.js'
 *
 * @typedef {object} Request
 * @property {string} method
 * @property {string} target path and query
 * @property {Record<string, string>} headers
 * @property {string} [body]
 */

/** The bytes of a response that are shown. */
const BYTES_MAX = 256 * 1024;

/**
 * A form to send a request of an operation, with the response below it.
 *
 * @param {Operation} operation
 * @param {Description} description
 * @param {Session} session
 */
export function trial(operation, description, session) {
  const inputs = operation.parameters.map((parameter) => inputOf(parameter, description));
  const body =
    operation.body &&
    element('textarea', { rows: '6', spellcheck: 'false', 'aria-label': 'Body' }, bodyExample());
  const curl = element('pre', { class: 'curl' });
  const output = element('div', { class: 'response', role: 'status' });
  const send = element('button', { class: 'primary' }, 'Send');
  const form = element(
    'form',
    { class: 'trial', input: showCurl, submit },
    element('h3', {}, 'Try it'),
    ...inputs.map(({ label }) => label),
    ...(body ? [element('label', {}, 'Body ', body)] : []),
    element('div', { class: 'line' }, send),
    curl,
    output,
  );
  session.addEventListener('change', showCurl);
  showCurl();
  return form;

  function bodyExample() {
    return JSON.stringify(description.example(operation.body ?? {}), null, 2);
  }

  /** @returns {Request} */
  function request() {
    let target = operation.path;
    const query = new URLSearchParams();
    /** @type {Record<string, string>} */
    const headers = {};
    for (const { parameter, input } of inputs) {
      const { name, in: where } = parameter;
      if (where === 'path') target = target.replace(`{${name}}`, encodeURIComponent(input.value));
      else if (input.value === '') continue;
      else if (where === 'query') query.append(name, input.value);
      else headers[name] = input.value;
    }
    if (query.size > 0) target += `?${query}`;
    if (operation.isProtected && session.token !== '') headers.Authorization = session.token;
    if (!body) return { method: operation.method, target, headers };
    headers['Content-Type'] = 'application/json';
    return { method: operation.method, target, headers, body: body.value };
  }

  function showCurl() {
    curl.textContent = curlOf(request(), operation.isProtected);
  }

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    void showResponse();
  }

  async function showResponse() {
    send.disabled = true;
    try {
      output.replaceChildren(...(await exchange(request())));
    } catch (error) {
      output.replaceChildren(element('p', { class: 'error' }, `No response: ${String(error)}`));
    } finally {
      send.disabled = false;
    }
  }
}

/**
 * @param {Parameter} parameter
 * @param {Description} description
 */
function inputOf(parameter, description) {
  const { name, in: where, required = false, schema } = parameter;
  const { type, enum: choices = type === 'boolean' ? [true, false] : undefined } = schema;
  const value = required ? String(description.example(schema)) : '';
  const input = choices
    ? element('select', { name }, ...['', ...choices].map((choice) => element('option', {}, String(choice))))
    : element('input', { name, value, spellcheck: 'false', autocomplete: 'off' });
  const label = element('label', {}, element('code', {}, name), ` in the ${where} `, input);
  return { parameter, input, label };
}

/**
 * Sends a request. @returns the response as elements
 *
 * @param {Request} request
 */
async function exchange({ method, target, headers, body }) {
  const startedMs = performance.now();
  // Relative to the page, which may be served under another path.
  const response = await fetch(target.slice(1), { method, headers, ...(body !== undefined && { body }) });
  const { text, isComplete } = await read(response);
  const ms = Math.round(performance.now() - startedMs);
  const { status, statusText } = response;
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  const value = isComplete ? parse(text) : undefined;
  const content = [element('pre', {}, ...(value === undefined ? [text] : json(value)))];
  if (response.ok) suggestId(value?.data?.id);
  return [
    element(
      'p',
      { class: 'line' },
      element('span', { class: `status s${Math.floor(status / 100)}` }, String(status)),
      element('strong', {}, statusText),
      element('span', { class: 'hint' }, `${ms} ms`),
    ),
    ...(isComplete
      ? content
      : [element('p', { class: 'hint' }, 'The beginning of a long response:'), ...content]),
    element('details', {}, element('summary', {}, 'Headers'), element('pre', {}, lines.join('\n'))),
  ];
}

/**
 * Reads a response, or its beginning when it is long.
 *
 * @param {Response} response
 */
async function read(response) {
  const reader = (response.body ?? new Blob().stream()).getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let length = 0; length < BYTES_MAX; ) {
    const { done, value } = await reader.read();
    if (done) return { text, isComplete: true };
    length += value.length;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return { text, isComplete: false };
}

/**
 * @param {string} text
 * @returns {any} the value, or undefined when it is not JSON
 */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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

/**
 * The request as a curl command, with the token in a variable.
 *
 * @param {Request} request
 * @param {boolean} isProtected
 */
function curlOf({ method, target, headers, body }, isProtected) {
  const others = Object.entries(headers).filter(([name]) => name !== 'Authorization');
  const parts = [
    method === (body === undefined ? 'GET' : 'POST') ? 'curl' : `curl -X ${method}`,
    ...(isProtected ? ['-H "Authorization: $TOKEN"'] : []),
    ...others.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    quoted(new URL(target.slice(1), location.href).href),
    ...(body === undefined ? [] : [`-d ${quoted(inOneLine(body))}`]),
  ];
  return parts.join(' \\\n  ');
}

/** @param {string} body usually JSON */
function inOneLine(body) {
  return JSON.stringify(parse(body)) ?? body;
}

/** @param {string} text */
function quoted(text) {
  return /^[\w:/.-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
