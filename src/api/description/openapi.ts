import type { RouteOptions } from 'fastify';
import { BODY_BYTES_MAX, BOOKS_BYTES_MAX, formatBytes, LOGIN_BYTES_MAX } from '../../http/body-limits.ts';
import { STATUS_CODES } from '../../http/node-http.ts';
import { envelope, type OutcomeName, outcomes } from '../../http/outcomes.ts';
import { CACHE_CONTROL, STATUS_HEADERS } from '../../http/response.ts';
import { DEPTH_MAX } from '../../json/parse-json.ts';
import {
  ERROR_HEADERS,
  type ErrorName,
  isProtected,
  type NamedOperation,
  type Operation,
} from './operations.ts';
import { REASONS } from './reasons.ts';
import { bookId, envelopeOf, exampleOf, namedSchemas, nothing, REQUEST_ID, type Schema } from './schemas.ts';

interface OperationRoute {
  readonly method: string;
  /** The pattern of the router, such as `/book/:id`. */
  readonly url: string;
  readonly operation: NamedOperation;
}

/** The routes that are operations of the API. */
export class OperationRoutes {
  readonly #routes: OperationRoute[] = [];

  /** A hook that is called with each route. */
  readonly add = ({ method, url, config = {} }: RouteOptions): void => {
    const isOperation = 'id' in config && method !== 'HEAD';
    if (isOperation && typeof method === 'string')
      this.#routes.push({ method, url, operation: config as NamedOperation });
  };

  /** Makes `/openapi.json`. */
  describe(version: string): object {
    return openApi(this.#routes, version);
  }
}

/** Describes the API by its routes (OpenAPI 3.1). */
export function openApi(routes: readonly OperationRoute[], version: string): object {
  const paths: Record<string, Record<string, unknown>> = {};
  const schemas = Object.assign({}, namedSchemas, ...routes.map(({ operation }) => operation.namedSchemas));
  const names = new Map<unknown, string>(Object.entries(schemas).map(([name, schema]) => [schema, name]));
  const tags = Object.keys(TAGS);
  const inOrder = routes.toSorted(
    (one, other) => tags.indexOf(one.operation.tag) - tags.indexOf(other.operation.tag),
  );
  for (const { method, url, operation } of inOrder) {
    const path = url.replace(/:([a-z]+)/g, '{$1}');
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationObject(path, operation) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Bookkeeping',
      version,
      summary: 'Keeps book records behind a signed token.',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // No `servers`: generators of clients take the host from which they read this document. A relative URL makes clients that fail
    // outside of browsers, and an absolute one by `Host` would be http behind a proxy for TLS that does not say so.
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: withReferences(paths, names),
    components: {
      schemas: mapValues(schemas, (schema) => withReferencesInside(schema, names)),
      securitySchemes: {
        [SCHEME]: { type: 'apiKey', in: 'header', name: 'Authorization', description: TOKEN_ALONE },
      },
    },
  };
}

const DESCRIPTION = `Every response, except the text of \`GET /metrics\`, is \`{"status": …, "message": …, "data": …}\`, with the \
HTTP status; \`data\` is null unless an operation says otherwise. Messages are exact.

Paths are exact: any other path is 404 \`Not found\`. \`HEAD\` works like \`GET\`, without content.

A body is one JSON object in UTF-8 of at most ${formatBytes(BODY_BYTES_MAX)} (of \`POST /token\` ${formatBytes(LOGIN_BYTES_MAX)}), or for \`POST /books\` and \`PATCH /books\` an array of them of at most ${formatBytes(BOOKS_BYTES_MAX)}, whatever \
its \`Content-Type\`; a body with a \`Content-Encoding\` is rejected. In each object, arrays and objects are nested at most ${DEPTH_MAX} deep, itself \
included. Strings are well-formed Unicode. Field names are case-insensitive; of duplicates, the last one counts.`;

const TAGS: Readonly<Record<Operation['tag'], string>> = {
  Tokens:
    'Tokens are issued for one configured pair of username and password. They expire, and can be renewed before.',
  Books: 'The books. All operations need a token.',
  Health: 'For orchestrators, load balancers and monitoring. No operation needs a token.',
};

const SCHEME = 'token';
const TOKEN_ALONE = 'The token of `POST /token` alone, without a scheme such as `Bearer`.';

const PATH_PARAMETERS: Readonly<Record<string, Schema>> = { id: bookId };

/** Outcomes of responses without `Cache-Control`, as they are sent before a handler runs. */
const BEFORE_HANDLER: ReadonlySet<OutcomeName> = new Set([
  'notFound',
  'methodNotAllowed',
  'expectationFailed',
  'headersTooLarge',
]);

function operationObject(path: string, operation: NamedOperation): object {
  const { id, tag, summary, description, body, success = [], text, withoutContent = {}, errors } = operation;
  const headers = headerObjects(
    { ...REQUEST_ID, ...operation.headers, ...cacheControlHeader(operation) },
    true,
  );
  const parameters = [
    ...[...path.matchAll(/\{([a-z]+)\}/g)].map(([, name = '']) => ({
      ...parameter('path', name, PATH_PARAMETERS[name] ?? {}),
      required: true,
    })),
    ...Object.entries(operation.query ?? {}).map(([name, schema]) => parameter('query', name, schema)),
    ...Object.entries(operation.requestHeaders ?? {}).map(([name, schema]) =>
      parameter('header', name, schema),
    ),
  ];
  const names: OutcomeName[] = [success, errors].flat();
  const byStatus = Object.groupBy(names, (name) => outcomes[name].status);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    security: isProtected(operation) ? [{ [SCHEME]: [] }] : [],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: body } } },
    }),
    responses: {
      ...mapValues(byStatus, (group, status) => responseObject(Number(status), group ?? [], operation)),
      ...mapValues(withoutContent, (meaning) => ({ description: meaning, headers })),
      ...(text && { 200: { description: text, headers, content: PLAIN_TEXT } }),
    },
  };
}

const PLAIN_TEXT = { 'text/plain': { schema: { type: 'string' } } };

function parameter(where: 'path' | 'query' | 'header', name: string, { description, ...schema }: Schema) {
  return {
    name,
    in: where,
    ...(description !== undefined && { description }),
    schema,
  };
}

/** The responses with one status: a success, or one or more errors. */
function responseObject(status: number, group: readonly OutcomeName[], operation: Operation): object {
  const isSuccess = group.some((name) => name === operation.success);
  const data = (isSuccess && operation.data) || nothing;
  const messages = group.map((name) => outcomes[name].message);
  const shape = envelopeOf(data);
  const { status: integer, message: text } = shape.properties;
  const properties = {
    status: { ...integer, const: status },
    message: { ...text, enum: messages },
    data,
  };
  const examples = group.map((name) => [
    name,
    {
      ...(name in REASONS && { description: REASONS[name as ErrorName] }),
      value: envelope(name, exampleOf(data)),
    },
  ]);
  return {
    description: messages.length === 1 ? messages[0] : `${STATUS_CODES[status]}: ${messages.join(', or ')}`,
    headers: isSuccess ? successHeaders(operation) : errorHeaders(status, group, operation),
    content: {
      'application/json': { schema: { ...shape, properties }, examples: Object.fromEntries(examples) },
    },
  };
}

function successHeaders(operation: Operation): object {
  const always = { ...REQUEST_ID, ...cacheControlHeader(operation) };
  return { ...headerObjects(always, true), ...headerObjects(operation.headers ?? {}, false) };
}

function errorHeaders(status: number, group: readonly OutcomeName[], operation: Operation): object {
  const { 'www-authenticate': challenge, 'retry-after': wait } = STATUS_HEADERS[status] ?? {};
  const hasWait = wait !== undefined || group.includes('tooManyRequests');
  const always = {
    ...REQUEST_ID,
    ...(challenge !== undefined && { 'WWW-Authenticate': { ...CHALLENGE, const: challenge } }),
    ...(hasWait && { 'Retry-After': RETRY_AFTER }),
    ...(group.includes('methodNotAllowed') && { Allow: ALLOW }),
  };
  const sometimes = {
    // Errors of the parser or the socket have none.
    ...(!group.every((name) => BEFORE_HANDLER.has(name)) && cacheControlHeader(operation)),
    ...Object.assign(
      {},
      ...group.map((name) => ({ ...ERROR_HEADERS[name], ...operation.errorHeaders?.[name] })),
    ),
  };
  return { ...headerObjects(always, true), ...headerObjects(sometimes, false) };
}

function cacheControlHeader(operation: Operation): Readonly<Record<string, Schema>> {
  const isKept = isProtected(operation) && operation.tag !== 'Tokens';
  const value = isKept ? CACHE_CONTROL.protected : CACHE_CONTROL.unprotected;
  const description = 'Which caches may store the response.';
  return { 'Cache-Control': { type: 'string', const: value, description } };
}

const CHALLENGE = {
  type: 'string',
  description: 'The challenge (RFC 9110, section 11.6.1). It is not `Bearer`, as the token is sent alone.',
};
const RETRY_AFTER = { type: 'integer', minimum: 1, description: 'The seconds until the next attempt.' };
const ALLOW = { type: 'string', description: 'The methods of the path.', examples: ['GET, HEAD'] };

function headerObjects(schemas: Readonly<Record<string, Schema>>, required: boolean): object {
  return mapValues(schemas, ({ description, ...schema }) => ({
    ...(description !== undefined && { description }),
    required,
    schema,
  }));
}

/** A value in which named schemas are replaced with references. */
function withReferences(value: unknown, names: ReadonlyMap<unknown, string>): unknown {
  const name = names.get(value);
  return name === undefined ? withReferencesInside(value, names) : { $ref: `#/components/schemas/${name}` };
}

function withReferencesInside(value: unknown, names: ReadonlyMap<unknown, string>): unknown {
  if (Array.isArray(value)) return value.map((each) => withReferences(each, names));
  if (typeof value !== 'object' || value === null) return value;
  return mapValues(value as Schema, (each) => withReferences(each, names));
}

function mapValues<Value>(
  object: Readonly<Record<string, Value>>,
  map: (value: Value, name: string) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value, name)]));
}
