import { STATUS_CODES } from 'node:http';
import { envelope, type OutcomeName, outcomes } from '../../http/outcomes.ts';
import { STATUS_HEADERS } from '../../http/response.ts';
import {
  cacheControlOf,
  isProtected,
  type Operation,
  type OperationSchema,
  type RefusalName,
} from './operations.ts';
import { REASONS } from './reasons.ts';
import { bookId, envelopeOf, exampleOf, namedSchemas, nothing, REQUEST_ID, type Schema } from './schemas.ts';

/** A route of the server that is an operation. */
export interface OperationRoute {
  readonly method: string;
  /** Its path as the router writes it, such as `/book/:id`. */
  readonly url: string;
  readonly operation: OperationSchema['operation'];
}

/**
 * The description of the API (OpenAPI 3.1), made of the routes that it has, and of the schemas that serialise its
 * answers.
 *
 * @param version of the service
 */
export function openApi(routes: readonly OperationRoute[], version: string): object {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { method, url, operation } of routes) {
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
    servers: [{ url: '/', description: 'This service' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: Object.fromEntries(
        Object.entries(namedSchemas).map(([name, schema]) => [name, withReferencesInside(schema)]),
      ),
      securitySchemes: {
        [SCHEME]: { type: 'apiKey', in: 'header', name: 'Authorization', description: TOKEN_ALONE },
      },
    },
  };
}

const DESCRIPTION = `Every answer but the text of \`GET /metrics\` is \`{"status": …, "message": …, "data": …}\`, with the \
status of HTTP; \`data\` is null unless an operation says otherwise. Messages are exact.

Paths are exact, too: any other is 404 \`Not found\`. \`HEAD\` is answered like \`GET\`, without content.

A body is one JSON object in UTF-8 of at most 1 MiB, that of \`POST /books\` an array of them of at most 16 MiB, whatever \
its \`Content-Type\` says; an encoded one (\`Content-Encoding\`) is refused. Strings are well-formed Unicode. Names of \
fields count in any case, and of one given twice the last.`;

const TAGS: Readonly<Record<Operation['tag'], string>> = {
  Tokens: 'One pair of username and password has tokens. They expire after a while.',
  Books: 'What the service keeps. All of it is behind a token.',
  Health: 'For whoever starts the service and sends it requests. It needs no token.',
};

const SCHEME = 'token';
const TOKEN_ALONE = 'The token of `POST /token` alone, without a word such as `Bearer` before it.';

/** What parameters of a path are. */
const PATH_PARAMETERS: Readonly<Record<string, Schema>> = { id: bookId };

/** What no handler answers, and so comes without its `Cache-Control`. */
const BEFORE_HANDLER: ReadonlySet<OutcomeName> = new Set([
  'notFound',
  'methodNotAllowed',
  'expectationFailed',
  'headersTooLarge',
]);

function operationObject(path: string, operation: OperationSchema['operation']): object {
  const {
    id,
    tag,
    summary,
    description,
    query = {},
    requestHeaders = {},
    body,
    success,
    text,
    headers = {},
    withoutContent = {},
    refusals,
  } = operation;
  const always = headerObjects({ ...REQUEST_ID, ...headers, ...cacheControlFor(operation) }, true);
  const describe = (meaning: string) => ({ description: meaning, headers: always });
  const names = [...path.matchAll(/\{([a-z]+)\}/g)].map(([, name = '']) => name);
  const parameters = [
    ...names.map((name) => ({ ...parameter('path', name, PATH_PARAMETERS[name] ?? {}), required: true })),
    ...Object.entries(query).map(([name, schema]) => parameter('query', name, schema)),
    ...Object.entries(requestHeaders).map(([name, schema]) => parameter('header', name, schema)),
  ];
  const byStatus = Object.groupBy<number, OutcomeName>(
    [success ?? [], refusals].flat(),
    (name) => outcomes[name].status,
  );
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    security: isProtected(operation) ? [{ [SCHEME]: [] }] : [],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: withReferences(body) } } },
    }),
    responses: Object.fromEntries([
      ...Object.entries(byStatus).map(([status, group = []]) => [
        status,
        responseObject(Number(status), group, operation),
      ]),
      ...Object.entries(withoutContent).map(([status, meaning]) => [status, describe(meaning)]),
      ...(text === undefined ? [] : [[200, { ...describe(text), content: PLAIN_TEXT }]]),
    ]),
  };
}

const PLAIN_TEXT = { 'text/plain': { schema: { type: 'string' } } };

function parameter(where: 'path' | 'query' | 'header', name: string, schema: Schema) {
  const { description, ...others } = schema;
  return {
    name,
    in: where,
    ...(description !== undefined && { description }),
    schema: withReferences(others),
  };
}

/** What is answered with one status: a success, or one or more refusals. */
function responseObject(status: number, group: readonly OutcomeName[], operation: Operation): object {
  const data = (group.some((name) => name === operation.success) && operation.data) || nothing;
  const messages = group.map((name) => outcomes[name].message);
  const shape = envelopeOf(data);
  const { status: integer, message: text } = shape.properties;
  const properties = {
    status: { ...integer, const: status },
    message: { ...text, enum: messages },
    data: withReferences(data),
  };
  const examples = group.map((name) => [
    name,
    {
      ...(name in REASONS && { description: REASONS[name as RefusalName] }),
      value: envelope(name, exampleOf(data)),
    },
  ]);
  const headers = headersOf(status, group, operation);
  return {
    description: messages.length === 1 ? messages[0] : `${STATUS_CODES[status]}: ${messages.join(', or ')}`,
    ...(Object.keys(headers).length > 0 && { headers }),
    content: {
      'application/json': { schema: { ...shape, properties }, examples: Object.fromEntries(examples) },
    },
  };
}

/** The header fields of an answer that are worth a word: those that it always has, and those that it may have. */
function headersOf(status: number, group: readonly OutcomeName[], operation: Operation): object {
  const isSuccess = group.some((name) => name === operation.success);
  const isHandled = !group.every((name) => BEFORE_HANDLER.has(name));
  const { 'www-authenticate': challenge, 'retry-after': wait } = STATUS_HEADERS[status] ?? {};
  const cacheControl = cacheControlFor(operation);
  const always = {
    ...REQUEST_ID,
    ...(challenge !== undefined && { 'WWW-Authenticate': { ...CHALLENGE, const: challenge } }),
    ...((wait !== undefined || group.includes('tooManyRequests')) && { 'Retry-After': RETRY_AFTER }),
    ...(group.includes('methodNotAllowed') && { Allow: ALLOW }),
    ...(isSuccess && cacheControl),
  };
  const sometimes = {
    // What the parser or the socket refuses has none.
    ...(!isSuccess && isHandled && cacheControl),
    ...(isSuccess && operation.headers),
    ...Object.assign({}, ...group.map((name) => operation.refusalHeaders?.[name])),
  };
  return { ...headerObjects(always, true), ...headerObjects(sometimes, false) };
}

function cacheControlFor(operation: Operation): Readonly<Record<string, Schema>> {
  const description = 'Who may keep the answer.';
  return { 'Cache-Control': { type: 'string', const: cacheControlOf(operation), description } };
}

const CHALLENGE = {
  type: 'string',
  description: 'The challenge (RFC 9110, section 11.6.1). It names no `Bearer`: the token goes alone.',
};
const RETRY_AFTER = { type: 'integer', minimum: 1, description: 'After how many seconds to try again.' };
const ALLOW = { type: 'string', description: 'The methods that the path has.', examples: ['GET, HEAD'] };

function headerObjects(schemas: Readonly<Record<string, Schema>>, required: boolean): object {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { description, ...schema }]) => [
      name,
      { ...(description !== undefined && { description }), required, schema: withReferences(schema) },
    ]),
  );
}

/** A schema with references in place of those that have a name. */
function withReferences(schema: unknown): unknown {
  const name = NAMES.get(schema);
  return name === undefined ? withReferencesInside(schema) : { $ref: `#/components/schemas/${name}` };
}

function withReferencesInside(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withReferences);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withReferences(value)]));
}

const NAMES = new Map<unknown, string>(Object.entries(namedSchemas).map(([name, schema]) => [schema, name]));
