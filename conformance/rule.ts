import type { Service } from './service.ts';

/** One thing that a service must do, to be seen from outside. */
export interface Rule {
  /** The heading under which the specification, or the list of decisions, says so. */
  readonly section: string;
  /** Said by the specification, or decided where the specification is silent. */
  readonly group: 'specification' | 'decision';
  /** What must hold, in the words of the specification. */
  readonly text: string;
  /** Present when the rule can only be tried by who knows the signing secret. */
  readonly needs?: 'secret';
  /** Resolves when the rule holds; rejects with what was expected and what came when it does not. */
  check(service: Service): Promise<void>;
}

/** The rule in one line, unlike any other. */
export function nameOf({ section, text }: Rule): string {
  return `${section}: ${text}`;
}

/** The rules of one section, each under its text. */
export function rulesOf(
  about: Omit<Rule, 'text' | 'check'>,
  checks: Readonly<Record<string, Rule['check']>>,
): Rule[] {
  return Object.entries(checks).map(([text, check]) => ({ ...about, text, check }));
}
