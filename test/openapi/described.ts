import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type OpenApi, type OperationObject, type ResponseObject, readDocument } from './document.ts';

/** What was asked, as far as it can be told. */
export interface Asked {
  readonly method: string;
  /** The request target. */
  readonly target: string;
}

/** What came. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  /** The content; absent where none was read. */
  readonly body?: string;
}

/**
 * Asserts that an answer is one that `/openapi.json` describes at the operation that was asked for. What is no request
 * for any operation may be answered as one of them may be.
 */
export async function assertDescribed(asked: Asked | undefined, answer: Answered): Promise<void> {
  description ??= readDocument().then((document) => new Description(document));
  const faults = (await description).faultsOf(asked, answer);
  const what = asked === undefined ? 'an answer' : `${asked.method} ${asked.target.slice(0, 60)}`;
  assert.equal(faults, undefined, `${what} is not described: ${faults}`);
}

let description: Promise<Description> | undefined;

/** Header fields that belong to HTTP, to the framing of a message and to CORS, and are so not told of each operation. */
const UNDESCRIBED =
  /^(content-(type|length)|transfer-encoding|connection|keep-alive|date|x-content-type-options|vary|access-control-.*)$/;

class Description {
  readonly #document: OpenApi;
  readonly #ajv = new Ajv2020({ strict: false, coerceTypes: false });
  readonly #ofHeaders = new Ajv2020({ strict: false, coerceTypes: true });

  constructor(document: OpenApi) {
    this.#document = document;
    this.#ajv.addSchema(document, DOCUMENT);
    this.#ofHeaders.addSchema(document, DOCUMENT);
  }

  /** What is wrong with an answer, or undefined when it is described. */
  faultsOf(asked: Asked | undefined, answer: Answered): string | undefined {
    // A preflight is not for the API, but for the browser.
    if (asked?.method === 'OPTIONS' && answer.status === 204) return undefined;
    const operations = this.#operations(asked);
    const faults = operations.map(([place, operation]) => this.#faultsAt(place, operation, answer, asked));
    return faults.includes(undefined) ? undefined : faults[0];
  }

  /** The operation that was asked for, or all of them when it is none. */
  #operations(asked: Asked | undefined): [place: string[], operation: OperationObject][] {
    const all = Object.entries(this.#document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    const wanted = asked?.method === 'HEAD' ? 'get' : asked?.method.toLowerCase();
    const target = asked?.target.split('?', 1)[0] ?? '';
    const found = all.filter(
      ({ path, method }) =>
        method === wanted && new RegExp(`^${path.replace(/\{[a-z]+\}/g, '[^/]*')}$`).test(target),
    );
    return (found.length > 0 ? found : all).map(({ path, method, operation }) => [
      ['paths', path, method],
      operation,
    ]);
  }

  #faultsAt(
    place: string[],
    { responses }: OperationObject,
    answer: Answered,
    asked: Asked | undefined,
  ): string | undefined {
    const response = responses[answer.status];
    if (!response) return `no status ${answer.status}`;
    const at = [...place, 'responses', String(answer.status)];
    const faults = this.#headerFaults(at, response, answer.headers);
    if (faults || asked?.method === 'HEAD' || answer.body === undefined) return faults;
    if (!response.content) return answer.body === '' ? undefined : 'content where there is none';
    const [type] = (answer.headers.get('content-type') ?? '').split(';');
    if (!type || !(type in response.content)) return `no content of type ${type}`;
    const validate = this.#schema(this.#ajv, [...at, 'content', type, 'schema']);
    return validate(type === 'application/json' ? JSON.parse(answer.body) : answer.body)
      ? undefined
      : this.#ajv.errorsText(validate.errors).slice(0, 120);
  }

  #headerFaults(at: string[], { headers = {} }: ResponseObject, answered: Headers): string | undefined {
    const names = new Map(Object.keys(headers).map((name) => [name.toLowerCase(), name]));
    for (const name of answered.keys()) {
      if (!names.has(name) && !UNDESCRIBED.test(name)) return `no header ${name}`;
    }
    for (const [name, { required }] of Object.entries(headers)) {
      const value = answered.get(name);
      if (value === null && required) return `the header ${name} is missing`;
      const validate = this.#schema(this.#ofHeaders, [...at, 'headers', name, 'schema']);
      if (value !== null && !validate(value)) return `another ${name}`;
    }
    return undefined;
  }

  #schema(ajv: Ajv2020, place: readonly string[]): ValidateFunction {
    const pointer = place.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')));
    const validate = ajv.getSchema(`${DOCUMENT}#/${pointer.join('/')}`);
    if (!validate) throw new Error(`no schema at ${place.join(' ')}`);
    return validate;
  }
}

const DOCUMENT = 'openapi.json';
