import { LOGIN_FIELD_TYPES } from '../../auth/credentials.ts';
import { TOKEN_LIFETIME_SECONDS } from '../../auth/tokens.ts';
import { BOOK_FIELD_TYPES, EMPTY_BOOK, ID_MAX } from '../../book/book.ts';
import { BOOKS_MAX } from '../many-books.ts';

/**
 * The shapes of bodies and answers as JSON Schema (draft 2020-12). Fastify compiles serialisers from those of answers:
 * the order of their properties is the order of the keys. Those of bodies follow from the tables that bodies are read by.
 * All of them stand in `/openapi.json`, with the examples that they have.
 */
export type Schema = Readonly<Record<string, unknown>>;

/** The types that a field of a body can have. */
const TYPES = {
  text: { type: 'string', pattern: String.raw`^[^\x00]*$` },
  integer: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
} as const;

/** What is to be said of each field of a book. */
const BOOK_FIELDS = fieldsOf(BOOK_FIELD_TYPES, {
  title: { examples: ['The Iliad'] },
  author: { examples: ['Homer'] },
  year: { description: 'Negative before the common era.', examples: [-750] },
});

export const bookId: Schema = {
  type: 'integer',
  minimum: 1,
  maximum: ID_MAX,
  description: 'Given by the service, and never given again.',
  examples: [1],
};

export const book: Schema = {
  type: 'object',
  properties: { id: bookId, ...BOOK_FIELDS },
  required: ['id', ...Object.keys(BOOK_FIELDS)],
};

export const books: Schema = {
  type: 'array',
  items: book,
  description: 'In ascending order of `id`, unless a query asks for another.',
};

export const newBook: Schema = {
  type: 'object',
  description: 'An absent field is empty. Other fields are ignored.',
  properties: withDefaults(BOOK_FIELDS, EMPTY_BOOK),
};

export const newBooks: Schema = { type: 'array', items: newBook, maxItems: BOOKS_MAX };

export const createdBooks: Schema = {
  type: 'array',
  items: book,
  description: 'In the order of the request.',
};

export const invalidIndex: Schema = {
  type: 'integer',
  minimum: 0,
  maximum: BOOKS_MAX,
  description: 'Where the first element is that is no book, or one too many. Absent where there is no array.',
};

export const idempotencyKey: Schema = {
  type: 'string',
  minLength: 1,
  description:
    'Whoever sends the same key and the same book again within 24 hours gets the first answer, and nothing is created.',
  examples: ['"8e03978e-40d5-43e8-bc93-6894a57f9324"'],
};

/** What every answer has. */
export const REQUEST_ID = {
  'X-Request-Id': {
    type: 'string',
    description: 'The id of the request in the log: that of its own `X-Request-Id`, or a new one.',
  },
};
export const ETAG = {
  ETag: { type: 'string', description: 'Changes when the book does (RFC 9110, section 8.8.3).' },
};
export const IF_MATCH = {
  'If-Match': { type: 'string', description: 'Only if the book has one of these entity tags, or `*`.' },
};
export const IF_NONE_MATCH = {
  'If-None-Match': { type: 'string', description: 'Only if the book has none of these entity tags.' },
};

export const LIST_HEADERS = {
  Link: { type: 'string', description: 'The next page, with `rel="next"` (RFC 8288), where there is one.' },
  'X-Total-Count': { type: 'integer', minimum: 0, description: 'How many books match, with `count=true`.' },
};

export const bookChanges: Schema = {
  type: 'object',
  description: 'An absent field keeps its stored value. Other fields are ignored.',
  properties: BOOK_FIELDS,
};

export const loginRequest: Schema = {
  type: 'object',
  properties: fieldsOf(LOGIN_FIELD_TYPES, {
    username: { examples: ['admin'] },
    password: { examples: ['correct horse battery staple'] },
  }),
};

export const token: Schema = {
  type: 'object',
  properties: {
    token: {
      type: 'string',
      description: `A JSON Web Token, good for ${TOKEN_LIFETIME_SECONDS / 60} minutes.`,
      examples: ['eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJleHAiOjE3OTUyOTQ4MDB9.c2lnbmF0dXJl'],
    },
  },
  required: ['token'],
};

export const nothing: Schema = { type: 'null' };

/** The schemas that `/openapi.json` has by name. */
export const namedSchemas: Readonly<Record<string, Schema>> = {
  Book: book,
  NewBook: newBook,
  BookChanges: bookChanges,
  LoginRequest: loginRequest,
  Token: token,
};

/** The envelope around data (specification, "Response envelope"). */
export function envelopeOf(data: Schema) {
  return {
    type: 'object',
    properties: { status: { type: 'integer' }, message: { type: 'string' }, data },
    required: ['status', 'message', 'data'],
  } as const;
}

/** What an endpoint answers: its data when it succeeds, null otherwise. */
export function answers(data: Schema) {
  const success = envelopeOf(data);
  return { 200: success, 201: success, default: envelopeOf(nothing) };
}

/** A value of this schema, made of the examples in it. */
export function exampleOf(schema: Schema): unknown {
  const { examples, items, properties } = schema as {
    examples?: readonly unknown[];
    items?: Schema;
    properties?: Readonly<Record<string, Schema>>;
  };
  if (examples) return examples[0];
  if (items) return [exampleOf(items)];
  if (!properties) return null;
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, exampleOf(property)]),
  );
}

function fieldsOf<Name extends string>(
  types: Readonly<Record<Name, keyof typeof TYPES>>,
  remarks: Readonly<Record<Name, Schema>>,
): Readonly<Record<Name, Schema>> {
  const fields = Object.entries<keyof typeof TYPES>(types).map(([name, type]) => [
    name,
    { ...TYPES[type], ...remarks[name as Name] },
  ]);
  return Object.fromEntries(fields) as Record<Name, Schema>;
}

function withDefaults(fields: Readonly<Record<string, Schema>>, defaults: object): Schema {
  return Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [name, { ...fields[name], default: value }]),
  );
}
