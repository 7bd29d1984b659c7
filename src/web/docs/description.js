/**
 * The parts of JSON Schema and OpenAPI that the page shows.
 *
 * @typedef {object} Schema
 * @property {string} [$ref]
 * @property {string} [type]
 * @property {string} [description]
 * @property {Record<string, Schema>} [properties]
 * @property {Schema} [items]
 * @property {unknown[]} [enum]
 * @property {unknown[]} [examples]
 * @property {unknown} [default]
 * @property {number} [minimum]
 * @property {number} [maximum]
 *
 * @typedef {object} Parameter
 * @property {string} name
 * @property {'path' | 'query' | 'header'} in
 * @property {string} [description]
 * @property {boolean} [required]
 * @property {Schema} schema
 *
 * @typedef {object} Outcome a possible response of an operation
 * @property {number} status
 * @property {string} message
 * @property {string} [when]
 * @property {unknown} [example] absent without the envelope
 * @property {string[]} headers
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
 * @property {Outcome[]} outcomes
 */

/** The content of `openapi.json`. */
export class Description {
  #document;

  /** @param {any} document in OpenAPI 3.1 */
  constructor(document) {
    this.#document = document;
  }

  /** @returns {{ title: string, version: string, summary: string, description: string }} */
  get info() {
    return this.#document.info;
  }

  /** @returns {{ name: string, description: string }[]} */
  get tags() {
    return this.#document.tags;
  }

  /** @returns {Operation[]} */
  get operations() {
    return Object.entries(this.#document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => this.#operation(path, method, operation)),
    );
  }

  /**
   * The responses that every operation can have.
   *
   * @returns {Outcome[]}
   */
  get commonOutcomes() {
    const [first, ...others] = this.operations.map(({ outcomes }) => outcomes);
    return (first ?? []).filter(({ message }) =>
      others.every((outcomes) => outcomes.some((outcome) => outcome.message === message)),
    );
  }

  /**
   * The target of a reference, or the schema itself.
   *
   * @param {Schema} schema
   * @returns {Schema}
   */
  resolve(schema) {
    if (schema.$ref === undefined) return schema;
    return schema.$ref
      .split('/')
      .slice(1)
      .reduce((part, key) => part[key], this.#document);
  }

  /**
   * A value of a schema, made of its examples.
   *
   * @param {Schema} schema
   * @returns {unknown}
   */
  example(schema) {
    const { examples, items, properties } = this.resolve(schema);
    if (examples) return examples[0];
    if (items) return [this.example(items)];
    if (!properties) return null;
    return Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, this.example(property)]),
    );
  }

  /**
   * @param {string} path
   * @param {string} method
   * @param {any} operation
   * @returns {Operation}
   */
  #operation(path, method, operation) {
    return {
      id: operation.operationId,
      tag: operation.tags[0],
      method: method.toUpperCase(),
      path,
      summary: operation.summary,
      description: operation.description ?? '',
      isProtected: operation.security.length > 0,
      parameters: operation.parameters ?? [],
      body: operation.requestBody?.content['application/json'].schema,
      outcomes: Object.entries(operation.responses).flatMap(([status, response]) =>
        outcomesOf(status, response),
      ),
    };
  }
}

/**
 * @param {string} status
 * @param {any} response
 * @returns {Outcome[]}
 */
function outcomesOf(status, { description: meaning, headers = {}, content }) {
  const names = Object.keys(headers);
  const { examples } = content?.['application/json'] ?? {};
  if (!examples) return [{ status: Number(status), message: meaning, headers: names }];
  return Object.values(examples).map(({ value, description }) => ({
    status: Number(status),
    message: value.message,
    when: description,
    example: value,
    headers: names,
  }));
}
