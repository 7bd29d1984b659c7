/**
 * The shapes of answers as JSON Schema, from which Fastify compiles serialisers. The order of the properties is the
 * order of the keys in an answer.
 */

const book = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    title: { type: 'string' },
    author: { type: 'string' },
    year: { type: 'integer' },
  },
  required: ['id', 'title', 'author', 'year'],
} as const;

const token = { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] } as const;

const nothing = { type: 'null' } as const;

function envelopeOf<Data>(data: Data) {
  return {
    type: 'object',
    properties: { status: { type: 'integer' }, message: { type: 'string' }, data },
    required: ['status', 'message', 'data'],
  } as const;
}

/** What an endpoint answers: its data when it succeeds, null otherwise. */
function answers<Data>(data: Data) {
  const success = envelopeOf(data);
  return { response: { 200: success, 201: success, default: envelopeOf(nothing) } };
}

export const tokenAnswers = answers(token);
export const bookAnswers = answers(book);
export const emptyAnswers = answers(nothing);
