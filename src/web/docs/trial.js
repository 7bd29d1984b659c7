import { exampleOf } from './description.js';
import { copyable, element } from './dom.js';
import { parse } from './json.js';
import { showResponse } from './response.js';

/**
 * @import { Operation, Parameter } from './description.js'
 * @import { Session } from './session.js'
 *
 * @typedef {object} Request
 * @property {string} method
 * @property {string} target path and query
 * @property {Record<string, string>} headers
 * @property {string} [body]
 */

/**
 * A form to send a request of an operation, with the response below it.
 *
 * @param {Operation} operation
 * @param {Session} session
 */
export function trial(operation, session) {
  const { method, path, summary, isProtected, parameters, body: schema } = operation;
  const inputs = parameters.map(inputOf);
  const required = inputs.filter(({ parameter }) => parameter.required);
  const optional = inputs.filter(({ parameter }) => !parameter.required);
  const body = element('textarea', { spellcheck: 'false' });
  const target = element('code', {});
  const verb = element('span', { class: `method ${method}` }, method);
  const send = element('button', { class: 'primary' }, 'Send');
  const curl = element('pre', {});
  const signIn = element('button', { type: 'button', click: retry }, 'Sign in and send again');
  const status = element('p', { class: 'line', role: 'status' });
  const content = element('div', {});
  /** @type {AbortController | undefined} */
  let sending;

  const form = element(
    'form',
    { 'aria-label': `Try: ${summary}`, input: showRequest, submit },
    element('div', { class: 'line send' }, verb, target, send),
    ...required.map(({ label }) => label),
  );
  if (schema) {
    body.value = JSON.stringify(exampleOf(schema), null, 2);
    body.rows = body.value.split('\n').length;
    form.append(element('label', {}, 'Body', body));
  }
  if (optional.length > 0) {
    const count = element('summary', {}, `Optional parameters (${optional.length})`);
    form.append(element('details', {}, count, ...optional.map(({ label }) => label)));
  }
  form.append(copyable('the curl command', curl), status, content);
  session.addEventListener('change', showRequest);
  showRequest();
  return form;

  /** @returns {Request} */
  function request() {
    let filled = path;
    const query = new URLSearchParams();
    /** @type {Record<string, string>} */
    const headers = {};
    for (const { parameter, input } of inputs) {
      const { name, in: where } = parameter;
      if (where === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(input.value));
      else if (input.value === '') continue;
      else if (where === 'query') query.append(name, input.value);
      else headers[name] = input.value;
    }
    if (isProtected && session.token !== '') headers.Authorization = session.token;
    if (schema) headers['Content-Type'] = 'application/json';
    const made = { method, target: query.size > 0 ? `${filled}?${query}` : filled, headers };
    return schema ? { ...made, body: body.value } : made;
  }

  function showRequest() {
    const made = request();
    target.textContent = made.target;
    curl.textContent = curlOf(made, isProtected);
  }

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    if (sending) sending.abort();
    else void exchange();
  }

  async function exchange() {
    sending = new AbortController();
    send.textContent = 'Stop';
    try {
      const code = await showResponse(request(), status, content, sending.signal);
      if (code === 401 && isProtected) status.append(signIn);
    } catch (error) {
      status.append(sending.signal.aborted ? 'Stopped' : `No response: ${String(error)}`);
    } finally {
      sending = undefined;
      send.textContent = 'Send';
    }
  }

  function retry() {
    session.ask(() => void exchange());
  }
}

/** @param {Parameter} parameter */
function inputOf(parameter) {
  const { name, required = false, schema } = parameter;
  const { type, enum: choices = type === 'boolean' ? [true, false] : undefined } = schema;
  const value = required ? String(exampleOf(schema)) : '';
  const input = choices
    ? element('select', { name }, ...['', ...choices].map((choice) => element('option', {}, String(choice))))
    : element('input', { name, value, required, spellcheck: 'false', autocomplete: 'off' });
  return { parameter, input, label: element('label', {}, element('code', {}, name), input) };
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
