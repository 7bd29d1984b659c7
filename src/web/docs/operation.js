import { element, paragraphs, phrases } from './dom.js';
import { json } from './json.js';
import { trial } from './trial.js';

/**
 * @import { Description, Operation, Outcome, Schema } from './description.js'
 * @import { Session } from './session.js'
 */

/**
 * Shows an operation: a summary that expands to its description and a form to send requests.
 *
 * @param {Operation} operation
 * @param {Description} description
 * @param {Session} session
 */
export function showOperation(operation, description, session) {
  const { id, method, path, summary, isProtected, parameters, body, outcomes } = operation;
  const common = new Set(description.commonOutcomes.map(({ message }) => message));
  const ownOutcomes = outcomes.filter(({ message }) => !common.has(message));
  const needs = isProtected ? [element('span', { class: 'lock', title: 'Needs a token' }, 'token')] : [];
  const facts = element('div', { class: 'facts' }, ...paragraphs(operation.description || `${summary}.`));
  const rows = parameters.map(({ name, in: where, description: about = '', schema }) =>
    field(name, { ...description.resolve(schema), description: about }, where),
  );
  if (rows.length > 0) facts.append(element('h3', {}, 'Parameters'), element('dl', {}, ...rows.flat()));
  if (body) facts.append(element('h3', {}, 'Body'), ...fields(description.resolve(body)));
  facts.append(
    element('h3', {}, 'Responses'),
    ...ownOutcomes.map(showOutcome),
    element('p', { class: 'more' }, 'And the ', element('a', { href: '#any' }, 'common responses'), '.'),
  );
  return element(
    'details',
    { class: `card operation ${method.toLowerCase()}`, id },
    element(
      'summary',
      { class: 'head' },
      element('span', { class: 'method' }, method),
      element('code', { class: 'path' }, path),
      element('span', { class: 'title' }, summary),
      ...needs,
    ),
    element('div', { class: 'columns' }, facts, trial(operation, description, session)),
  );
}

/** @param {Schema} schema of an object */
function fields({ description = '', properties = {} }) {
  const rows = Object.entries(properties).map(([name, schema]) => field(name, schema));
  return [...paragraphs(description), element('dl', {}, ...rows.flat())];
}

/**
 * @param {string} name
 * @param {Schema} schema
 * @param {string} [where]
 */
function field(name, schema, where) {
  const { type = '', description = '', enum: choices = [], default: fallback, minimum, maximum } = schema;
  const bounds = minimum === undefined || maximum === undefined ? '' : `${minimum} to ${maximum}`;
  const remarks = [
    where === undefined ? '' : `in the ${where}`,
    bounds,
    choices.map(String).join(', '),
    fallback === undefined ? '' : `default: ${JSON.stringify(fallback)}`,
  ].filter((remark) => remark !== '');
  return [
    element('dt', {}, element('code', {}, name), ' ', element('span', { class: 'type' }, type)),
    element(
      'dd',
      {},
      ...phrases(description),
      ' ',
      element('span', { class: 'bounds' }, remarks.join(' · ')),
    ),
  ];
}

/**
 * Shows a response: a summary that expands to an example.
 *
 * @param {Outcome} outcome
 */
export function showOutcome({ status, message, when, example, headers }) {
  const line = element(
    'summary',
    { class: 'row' },
    element('span', { class: `status s${Math.floor(status / 100)}` }, String(status)),
    element(
      'span',
      {},
      element('strong', {}, message),
      ...(when === undefined ? [] : [': ', ...phrases(when)]),
    ),
  );
  const names = headers.map((name) => element('code', {}, name));
  const headerLine =
    names.length === 0 ? [] : [element('p', { class: 'hint' }, 'Headers: ', ...spaced(names))];
  const content = example === undefined ? [] : [element('pre', {}, ...json(example))];
  return element('details', { class: 'outcome' }, line, ...content, ...headerLine);
}

/** @param {readonly Node[]} nodes */
function spaced(nodes) {
  return nodes.flatMap((node, index) => (index === 0 ? [node] : [' ', node]));
}
