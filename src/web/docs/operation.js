import { copyable, element, paragraphs, phrases } from './dom.js';
import { fieldList, fieldsOf, typeOf } from './fields.js';
import { json } from './json.js';
import { trial } from './trial.js';

/**
 * @import { Operation, Outcome } from './description.js'
 * @import { Session } from './session.js'
 */

const PLACES = { path: 'Path parameters', query: 'Query parameters', header: 'Request headers' };

/**
 * Shows an operation: its description beside a form to send requests.
 *
 * @param {Operation} operation
 * @param {Session} session
 */
export function showOperation(operation, session) {
  const { id, method, path, summary, description, isProtected, parameters, body, outcomes } = operation;
  const title = element('h3', { id: `${id}-title` }, summary);
  const line = element(
    'p',
    { class: 'line' },
    element('span', { class: `method ${method}` }, method),
    element('code', {}, path),
    element('span', { class: 'hint' }, isProtected ? 'needs a token' : ''),
  );
  const facts = element('div', {}, title, line, ...paragraphs(description));
  for (const [place, heading] of Object.entries(PLACES)) {
    const fields = parameters.filter((parameter) => parameter.in === place);
    if (fields.length > 0) facts.append(element('h4', {}, heading), ...fieldList(fields, true));
  }
  if (body) {
    facts.append(
      element('h4', {}, 'Body ', element('span', { class: 'hint' }, typeOf(body))),
      ...paragraphs(body.description ?? body.items?.description ?? ''),
      ...fieldList(fieldsOf(body), true),
    );
  }
  facts.append(
    element('h4', {}, 'Responses'),
    ...outcomes.map(showOutcome),
    element('p', { class: 'hint' }, 'And the ', element('a', { href: '#any' }, 'common responses'), '.'),
  );
  const attributes = { class: 'operation', id, 'aria-labelledby': title.id };
  return element('section', attributes, facts, trial(operation, session));
}

/**
 * Shows a response: a summary that expands to its types and an example.
 *
 * @param {Outcome} outcome
 */
export function showOutcome({ status, message, when, data, headers, example }) {
  const reason = when === undefined ? [] : [': ', ...phrases(when)];
  const shown = element(
    'details',
    { class: 'outcome', open: status < 300 },
    element('summary', {}, showStatus(status), ' ', element('strong', {}, message), ...reason),
  );
  if (data) {
    const field = { name: 'data', schema: data, description: data.description, required: true };
    shown.append(...fieldList([field], false));
  }
  const heading = element('summary', {}, `Headers: ${headers.map(({ name }) => name).join(', ')}`);
  shown.append(element('details', {}, heading, ...fieldList(headers, false)));
  if (example !== undefined) shown.append(copyable('the example', element('pre', {}, ...json(example))));
  return shown;
}

/** @param {number} status */
export function showStatus(status) {
  return element('span', { class: `status s${Math.floor(status / 100)}` }, String(status));
}
