import type { Rule } from './rule.ts';
import { authenticationRules } from './rules/authentication.ts';
import { bodyRules } from './rules/bodies.ts';
import { bookEndpointRules } from './rules/book-endpoints.ts';
import { historyRules } from './rules/history.ts';
import { httpRules } from './rules/http.ts';
import { idempotencyKeyRules } from './rules/idempotency-keys.ts';
import { idRules } from './rules/ids.ts';
import { listRules } from './rules/lists.ts';
import { manyBooksRules } from './rules/many-books.ts';
import { readOnlyTokenRules } from './rules/read-only-tokens.ts';
import { signedTokenRules } from './rules/signed-tokens.ts';
import { tokenEndpointRules } from './rules/token-endpoint.ts';
import { tokenRenewalRules } from './rules/token-renewal.ts';
import { transportRules } from './rules/transport.ts';

/** The headings of the specification, then those of the decisions, in the order in which they are checked. */
const SECTIONS = [
  'What the service does',
  'POST /token',
  'POST /book',
  'GET /books',
  'GET /book/{id}',
  'PUT /book/{id}',
  'DELETE /book/{id}',
  'Authentication',
  'Limits',
  'Reading a body',
  'Ids',
  'Lists',
  'Idempotency keys',
  'Many books',
  'History',
  'Tokens',
  'Read-only tokens',
  'Renewed tokens',
  'HTTP',
];

/** All rules, by section. */
export const rules: readonly Rule[] = [
  ...transportRules,
  ...tokenEndpointRules,
  ...bookEndpointRules,
  ...authenticationRules,
  ...signedTokenRules,
  ...readOnlyTokenRules,
  ...tokenRenewalRules,
  ...bodyRules,
  ...idRules,
  ...listRules,
  ...idempotencyKeyRules,
  ...manyBooksRules,
  ...historyRules,
  ...httpRules,
].toSorted((a, b) => SECTIONS.indexOf(a.section) - SECTIONS.indexOf(b.section));
