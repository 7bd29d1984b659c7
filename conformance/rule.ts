import type { Service } from './service.ts';

/** A requirement that can be checked over HTTP. */
export interface Rule {
  /** The heading of the specification, or of the decisions, that states it. */
  readonly section: string;
  /** Whether the specification states it, or this project where the specification is silent. */
  readonly group: 'specification' | 'decision';
  /** The requirement, in the words of the specification. */
  readonly text: string;
  /**
   * What the check needs: the signing secret, or a service with the endpoints of the history, with read-only or renewed tokens, with pages
   * of the list, with idempotency keys, or with an endpoint.
   */
  readonly needs?:
    | 'secret'
    | 'history'
    | 'read-only tokens'
    | 'token renewal'
    | 'token renewal and secret'
    | 'pages'
    | 'idempotency keys'
    | 'PATCH /books';
  /** Resolves when the service meets the requirement; otherwise rejects with the expected and the actual response. */
  check(service: Service): Promise<void>;
}

/** The unique name of a rule, in one line. */
export function nameOf({ section, text }: Rule): string {
  return `${section}: ${text}`;
}

/** The rules of one section, by text. */
export function rulesOf(
  about: Omit<Rule, 'text' | 'check'>,
  checks: Readonly<Record<string, Rule['check']>>,
): Rule[] {
  return Object.entries(checks).map(([text, check]) => ({ ...about, text, check }));
}
