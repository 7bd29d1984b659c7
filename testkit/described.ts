import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type OpenApi, type OperationObject, type ResponseObject, readDocument } from './document.ts';

/** A request. */
export interface SentRequest {
  readonly method: string;
  /** The request target. */
  readonly target: string;
}

/** A response. */
export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The content, if it was read. */
  readonly body?: string;
}

/** Asserts that `/openapi.json` describes a response, at the operation of the request, or else at any operation. */
export async function assertDescribed(
  request: SentRequest | undefined,
  response: ReceivedResponse,
): Promise<void> {
  description ??= readDocument().then((document) => new Description(document));
  const faults = (await description).faultsOf(request, response);
  const what = request === undefined ? 'a response' : `${request.method} ${request.target.slice(0, 60)}`;
  assert.equal(faults, undefined, `${what} is not described: ${faults}`);
}

let description: Promise<Description> | undefined;

/** Headers of HTTP, framing and CORS, which are not described. */
const UNDESCRIBED =
  /^(content-(type|length)|transfer-encoding|connection|keep-alive|date|x-content-type-options|vary|access-control-.*)$/;

interface OperationOfPath {
  readonly pattern: RegExp;
  readonly method: string;
  /** The keys that lead to it in the document. */
  readonly place: readonly string[];
  readonly operation: OperationObject;
}

/** The schemas are checked in `document.test.ts`: to compile their meta-schema takes longer than most tests. */
const UNCHECKED = { strict: false, meta: false, validateSchema: false } as const;

class Description {
  readonly #operationsOfPaths: readonly OperationOfPath[];
  readonly #ajv = new Ajv2020({ ...UNCHECKED, coerceTypes: false });
  readonly #headerAjv = new Ajv2020({ ...UNCHECKED, coerceTypes: true });

  constructor(document: OpenApi) {
    this.#operationsOfPaths = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        pattern: new RegExp(`^${path.replace(/\{[a-z]+\}/g, '[^/]*')}$`),
        method,
        place: ['paths', path, method],
        operation,
      })),
    );
    this.#ajv.addSchema(document, DOCUMENT);
    this.#headerAjv.addSchema(document, DOCUMENT);
  }

  /** The error of a response, or undefined when it is described. */
  faultsOf(request: SentRequest | undefined, response: ReceivedResponse): string | undefined {
    // A preflight is not part of the API.
    if (request?.method === 'OPTIONS' && response.status === 204) return undefined;
    const faults = this.#operations(request).map(({ place, operation }) =>
      this.#faultsAt(place, operation, response, request),
    );
    return faults.includes(undefined) ? undefined : faults[0];
  }

  /** The operation of a request, or all operations when it has none. */
  #operations(request: SentRequest | undefined): readonly OperationOfPath[] {
    const requested = request?.method === 'HEAD' ? 'get' : request?.method.toLowerCase();
    const target = request?.target.split('?', 1)[0] ?? '';
    const found = this.#operationsOfPaths.filter(
      ({ pattern, method }) => method === requested && pattern.test(target),
    );
    return found.length > 0 ? found : this.#operationsOfPaths;
  }

  #faultsAt(
    place: readonly string[],
    { responses }: OperationObject,
    response: ReceivedResponse,
    request: SentRequest | undefined,
  ): string | undefined {
    const described = responses[response.status];
    if (!described) return `no status ${response.status}`;
    const at = [...place, 'responses', String(response.status)];
    const faults = this.#headerFaults(at, described, response.headers);
    if (faults || request?.method === 'HEAD' || response.body === undefined) return faults;
    if (!described.content) return response.body === '' ? undefined : 'unexpected content';
    const [type] = (response.headers.get('content-type') ?? '').split(';');
    if (!type || !(type in described.content)) return `no content of type ${type}`;
    const validate = this.#schema(this.#ajv, [...at, 'content', type, 'schema']);
    return validate(type === 'application/json' ? JSON.parse(response.body) : response.body)
      ? undefined
      : this.#ajv.errorsText(validate.errors).slice(0, 120);
  }

  #headerFaults(at: string[], { headers = {} }: ResponseObject, received: Headers): string | undefined {
    const names = new Map(Object.keys(headers).map((name) => [name.toLowerCase(), name]));
    for (const name of received.keys()) {
      if (!names.has(name) && !UNDESCRIBED.test(name)) return `no header ${name}`;
    }
    for (const [name, { required }] of Object.entries(headers)) {
      const value = received.get(name);
      if (value === null && required) return `the header ${name} is missing`;
      const validate = this.#schema(this.#headerAjv, [...at, 'headers', name, 'schema']);
      if (value !== null && !validate(value)) return `an invalid ${name}`;
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
