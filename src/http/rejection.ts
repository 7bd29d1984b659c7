import type { OutcomeName } from './outcomes.ts';

/**
 * Why there is no value with which a handler can continue: the result of its request, which it returns. What reads a body, a query, a
 * header or a book for a handler returns the value or this.
 */
export class Rejection {
  readonly outcome: OutcomeName;
  /** As that of `HttpResult`. */
  readonly detail: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    outcome: OutcomeName,
    { detail, headers = {} }: Partial<Pick<Rejection, 'detail' | 'headers'>> = {},
  ) {
    this.outcome = outcome;
    this.detail = detail;
    this.headers = headers;
  }
}
