import { element, phrases } from './dom.js';

/** @import { Field, Schema } from './description.js' */

/**
 * Shows fields with their types, and with the fields inside them.
 *
 * @param {Field[]} fields
 * @param {boolean} isSent by the client: required fields are marked; else those that may be absent
 * @returns {HTMLElement[]} none if there are no fields
 */
export function fieldList(fields, isSent) {
  const rows = fields.flatMap(({ name, schema, description = '', required = false }) => [
    element(
      'dt',
      {},
      element('code', {}, name),
      ' ',
      element('span', { class: 'hint' }, typeOf(schema)),
      ...(isSent && required ? [' ', element('strong', { class: 'error' }, 'required')] : []),
      ...(isSent || required ? [] : [element('span', { class: 'hint' }, ', optional')]),
    ),
    element('dd', {}, ...phrases(description), ...fieldList(fieldsOf(schema), isSent)),
  ]);
  return rows.length > 0 ? [element('dl', {}, ...rows)] : [];
}

/**
 * The fields of an object, or of the objects in an array.
 *
 * @param {Schema} schema
 * @returns {Field[]}
 */
export function fieldsOf({ properties, required = [], items, anyOf }) {
  const inner = items ?? anyOf?.[0];
  if (!properties) return inner ? fieldsOf(inner) : [];
  return Object.entries(properties).map(([name, schema]) => {
    return { name, schema, description: schema.description, required: required.includes(name) };
  });
}

/**
 * The type of a schema in words, such as `array of Book, at most 10000`.
 *
 * @param {Schema} schema
 */
export function typeOf(schema) {
  const { format, minimum, maximum, maxItems, enum: choices, default: fallback } = schema;
  const parts = [
    nameOf(schema),
    format,
    maximum !== undefined && (minimum === -maximum ? `±${maximum}` : `${minimum} to ${maximum}`),
    maxItems !== undefined && `at most ${maxItems}`,
    choices?.join(' | '),
    fallback !== undefined && `default ${JSON.stringify(fallback)}`,
  ];
  return parts.filter(Boolean).join(', ');
}

/**
 * @param {Schema} schema
 * @returns {string}
 */
function nameOf({ title, type = 'any', items, anyOf, const: only }) {
  if (only !== undefined) return JSON.stringify(only);
  if (anyOf) return anyOf.map(nameOf).join(' or ');
  return title ?? (items ? `array of ${nameOf(items)}` : type);
}
