/**
 * What the page shows of a description in OpenAPI 3.1, with the targets of references in their places.
 *
 * @typedef {object} Schema a part of JSON Schema
 * @property {string} [title] of a target: its name
 * @property {string} [type]
 * @property {string} [format]
 * @property {string} [description]
 * @property {Record<string, Schema>} [properties]
 * @property {string[]} [required]
 * @property {Schema} [items]
 * @property {Schema[]} [anyOf]
 * @property {unknown[]} [enum]
 * @property {unknown} [const]
 * @property {unknown[]} [examples]
 * @property {unknown} [default]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {number} [maxItems]
 *
 * @typedef {object} Field a parameter, a header, or a property of an object
 * @property {string} name
 * @property {Schema} schema
 * @property {string | undefined} [description]
 * @property {boolean} [required]
 *
 * @typedef {Field & { in: 'path' | 'query' | 'header' }} Parameter
 *
 * @typedef {object} Outcome a possible response of an operation
 * @property {number} status
 * @property {string} message
 * @property {string} [when]
 * @property {Schema} [data] absent when it is null
 * @property {Field[]} headers
 * @property {unknown} [example] absent without the envelope
 *
 * @typedef {object} Operation
 * @property {string} id
 * @property {string} tag
 * @property {string} method
 * @property {string} path
 * @property {string} summary
 * @property {string} description
 * @property {boolean} isProtected
 * @property {Parameter[]} parameters
 * @property {Schema} [body]
 * @property {Outcome[]} outcomes without those that every operation has
 *
 * @typedef {object} Description
 * @property {{ title: string, version: string, summary: string, description: string }} info
 * @property {{ name: string, description: string }[]} tags
 * @property {Operation[]} operations
 * @property {Outcome[]} commonOutcomes those that every operation has
 */

/**
 * @param {any} document the content of `openapi.json`
 * @returns {Description}
 */
export function readDescription(document) {
  const { info, tags, paths } = withTargets(document, document.components.schemas);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => readOperation(path, method, operation)),
  );
  const commonOutcomes = (operations[0]?.outcomes ?? []).flatMap((outcome) => {
    const all = operations.map(({ outcomes }) => outcomes.find(({ message }) => message === outcome.message));
    const isHeaderOfAll = (/** @type {Field} */ header) =>
      all.every((each) => each?.headers.some((other) => JSON.stringify(other) === JSON.stringify(header)));
    return all.includes(undefined) ? [] : [{ ...outcome, headers: outcome.headers.filter(isHeaderOfAll) }];
  });
  const common = new Set(commonOutcomes.map(({ message }) => message));
  for (const operation of operations) {
    operation.outcomes = operation.outcomes.filter(({ message }) => !common.has(message));
  }
  return { info, tags, operations, commonOutcomes };
}

/**
 * A value of a schema, made of its examples. A property without an example is left out.
 *
 * @param {Schema} schema
 * @returns {unknown}
 */
export function exampleOf({ examples, items, properties }) {
  if (examples) return examples[0];
  if (items) return [exampleOf(items)];
  if (!properties) return undefined;
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, exampleOf(property)]),
  );
}

/**
 * Replaces references with their targets, of which none contains itself.
 *
 * @param {any} value
 * @param {Record<string, Schema>} schemas
 * @returns {any}
 */
function withTargets(value, schemas) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => withTargets(each, schemas));
  const { $ref: reference, ...others } = value;
  if (reference !== undefined) {
    const title = reference.split('/').at(-1);
    return { title, ...withTargets(schemas[title], schemas) };
  }
  return Object.fromEntries(Object.entries(others).map(([name, each]) => [name, withTargets(each, schemas)]));
}

/**
 * @param {string} path
 * @param {string} method
 * @param {any} operation
 * @returns {Operation}
 */
function readOperation(path, method, operation) {
  const { operationId: id, tags, summary, description, security, parameters = [], responses } = operation;
  const mediaTypes = Object.keys(responses[200]?.content ?? {});
  const accept = { name: 'Accept', in: 'header', schema: { type: 'string', enum: mediaTypes } };
  return {
    id,
    tag: tags[0],
    method: method.toUpperCase(),
    path,
    summary,
    description: description ?? `${summary}.`,
    isProtected: security.length > 0,
    parameters: mediaTypes.length > 1 ? [...parameters, accept] : parameters,
    body: operation.requestBody?.content['application/json'].schema,
    outcomes: Object.entries(responses).flatMap(([status, response]) =>
      readOutcomes(Number(status), response),
    ),
  };
}

/**
 * @param {number} status
 * @param {any} response
 * @returns {Outcome[]}
 */
function readOutcomes(status, { description, headers: byName = {}, content }) {
  /** @type {Field[]} */
  const headers = Object.entries(byName).map(([name, header]) => ({ name, ...header }));
  const { schema, examples } = content?.['application/json'] ?? {};
  if (!examples) return [{ status, message: description, headers }];
  const { data } = schema.properties;
  return Object.values(examples).map(({ value, description: when }) => ({
    status,
    message: value.message,
    when,
    headers,
    example: value,
    ...(data.type !== 'null' && { data }),
  }));
}
