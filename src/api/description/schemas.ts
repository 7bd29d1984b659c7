import { LOGIN_FIELD_TYPES } from '../../auth/credentials.ts';
import { READ_SCOPE, TOKEN_LIFETIME_SECONDS } from '../../auth/tokens.ts';
import { ID_MAX } from '../../book/book.ts';
import { BOOK_FIELD_TYPES, TEXT_LENGTH_MAX, TEXT_NAMES } from '../../book/contract.ts';
import { BOOKS_MAX } from '../many-books.ts';

/** JSON Schema (draft 2020-12). */
export type Schema = Readonly<Record<string, unknown>>;

const TYPES = {
  text: { type: 'string', pattern: String.raw`^[^\x00]*$` },
  integer: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
} as const;

const BOOK_FIELDS = {
  title: { ...TYPES[BOOK_FIELD_TYPES.title], examples: ['The Iliad'] },
  author: { ...TYPES[BOOK_FIELD_TYPES.author], examples: ['Homer'] },
  year: { ...TYPES[BOOK_FIELD_TYPES.year], description: 'Negative for years BCE.', examples: [-750] },
} as const satisfies Record<keyof typeof BOOK_FIELD_TYPES, Schema>;

/** A stored text may be longer, from before there was this limit. */
const NEW_FIELDS = {
  ...BOOK_FIELDS,
  ...Object.fromEntries(
    TEXT_NAMES.map((name) => [name, { ...BOOK_FIELDS[name], maxLength: TEXT_LENGTH_MAX[name] }]),
  ),
};

export const bookId: Schema = {
  type: 'integer',
  minimum: 1,
  maximum: ID_MAX,
  description: 'Assigned by the service; never reused.',
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
  description: 'In ascending order of `id`, unless the query has `sort`.',
};

export const newBook: Schema = {
  type: 'object',
  description: 'An absent field is empty. Other fields are ignored.',
  // Without `default`: generators of types would make the fields required.
  properties: NEW_FIELDS,
};

export const newBooks: Schema = { type: 'array', items: newBook, maxItems: BOOKS_MAX };

export const booksInOrder: Schema = {
  type: 'array',
  items: book,
  description: 'In the order of the request.',
};

/** Either new fields or a deletion. */
export const bookUpdates: Schema = {
  type: 'array',
  items: {
    type: 'object',
    description:
      'New values of fields, as in `PUT /book/{id}`, or the deletion of a book, which has no new values. Other fields are ignored.',
    properties: {
      id: { ...bookId, description: 'An id must not occur twice.' },
      ...NEW_FIELDS,
      deleted: { type: 'boolean', description: '`true` deletes the book.' },
      ifMatch: {
        ...TYPES.text,
        description: 'Only if the book has one of these entity tags, as in the header `If-Match`.',
      },
    },
    required: ['id'],
    examples: [{ id: 1, title: 'The Iliad' }],
  },
  maxItems: BOOKS_MAX,
};

export const updatedBooks: Schema = {
  type: 'array',
  items: { anyOf: [book, { type: 'null' }] },
  description: 'In the order of the request, with null for deleted books.',
};

export const bookChanges: Schema = {
  type: 'object',
  description: 'An absent field keeps its stored value. Other fields are ignored.',
  properties: NEW_FIELDS,
};

export const loginRequest: Schema = {
  type: 'object',
  properties: {
    username: TYPES[LOGIN_FIELD_TYPES.username],
    password: TYPES[LOGIN_FIELD_TYPES.password],
    scope: {
      const: READ_SCOPE,
      description: 'For a token that is limited to GET and HEAD.',
    },
  },
  // Without `scope`, since `/docs` offers the example as the body.
  examples: [{ username: 'admin', password: 'correct horse battery staple' }],
};

export const token: Schema = {
  type: 'object',
  properties: {
    token: {
      type: 'string',
      description: `A JSON Web Token, valid for ${TOKEN_LIFETIME_SECONDS / 60} minutes.`,
      examples: ['eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJleHAiOjE3OTUyOTQ4MDB9.c2lnbmF0dXJl'],
    },
  },
  required: ['token'],
};

export const nothing: Schema = { type: 'null' };

export const REQUEST_ID = {
  'X-Request-Id': {
    type: 'string',
    description: 'The id of the request in the log: the `X-Request-Id` of the request, or a new one.',
  },
};
export const ETAG = {
  ETag: { type: 'string', description: 'Changes with the book (RFC 9110, section 8.8.3).' },
};
export const IF_MATCH = {
  'If-Match': { type: 'string', description: 'Only if the book has one of these entity tags, or `*`.' },
};
export const IF_NONE_MATCH = {
  'If-None-Match': { type: 'string', description: 'Only if the book has none of these entity tags.' },
};
export const IDEMPOTENCY_KEY = {
  'Idempotency-Key': {
    type: 'string',
    minLength: 1,
    description:
      'A request with the same key and the same body within 24 hours returns the first response and creates nothing.',
    examples: ['"8e03978e-40d5-43e8-bc93-6894a57f9324"'],
  },
};
export const ERROR_DETAIL = {
  'Error-Detail': {
    type: 'string',
    description: 'What is wrong with the request, for developers. Its text may change.',
    examples: ['year must be an integer from -9007199254740991 to 9007199254740991'],
  },
};
export const INVALID_INDEX = {
  'Invalid-Index': {
    type: 'integer',
    minimum: 0,
    maximum: BOOKS_MAX,
    description:
      'The index of the first element at fault. Absent if the body is not an array, or the database does not say which one its table rejects.',
  },
};
export const namedSchemas: Readonly<Record<string, Schema>> = {
  Book: book,
  NewBook: newBook,
  BookChanges: bookChanges,
  LoginRequest: loginRequest,
  Token: token,
};

/** The schema of a response whose `data` has this schema. */
export function envelopeOf(data: Schema) {
  return {
    type: 'object',
    properties: { status: { type: 'integer' }, message: { type: 'string' }, data },
    required: ['status', 'message', 'data'],
  } as const;
}

/** A value of a schema, made of its examples. */
export function exampleOf(schema: Schema): unknown {
  const { examples, anyOf, items, properties } = schema as {
    examples?: readonly unknown[];
    anyOf?: readonly [Schema];
    items?: Schema;
    properties?: Readonly<Record<string, Schema>>;
  };
  if (examples) return examples[0];
  if (anyOf) return exampleOf(anyOf[0]);
  if (items) return [exampleOf(items)];
  if (!properties) return null;
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, exampleOf(property)]),
  );
}
