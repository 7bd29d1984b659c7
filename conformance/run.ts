import { NoAnswer } from './client.ts';
import { Mismatch } from './expect.ts';
import type { Rule } from './rule.ts';
import type { Service } from './service.ts';

/** What came of a rule. Nothing in it is confidential. */
export type Result =
  | { readonly rule: Rule; readonly outcome: 'pass' }
  | { readonly rule: Rule; readonly outcome: 'fail' | 'not tried'; readonly reason: string };

/** Tries the rules one after another. */
export async function* run(service: Service, rules: readonly Rule[]): AsyncGenerator<Result> {
  for (const rule of rules) yield await tryRule(service, rule);
}

/** Tries one rule, and removes the books it made. Never rejects. */
export async function tryRule(service: Service, rule: Rule): Promise<Result> {
  if (rule.needs === 'secret' && service.secret === undefined) {
    return { rule, outcome: 'not tried', reason: 'needs --secret' };
  }
  try {
    await rule.check(service);
    return { rule, outcome: 'pass' };
  } catch (error) {
    return { rule, outcome: 'fail', reason: reasonOf(error, service) };
  } finally {
    await service.deleteBooks().catch(() => undefined);
  }
}

function reasonOf(error: unknown, service: Service): string {
  const inShort = (text: string) => shorten(service.redact(text));
  if (error instanceof Mismatch) {
    return `${inShort(error.subject)}: expected ${inShort(error.expected)}, got ${inShort(error.actual)}`;
  }
  if (error instanceof NoAnswer) return `${inShort(error.request)}: ${error.reason}`;
  return inShort(`the rule itself failed: ${String(error)}`);
}

const REASON_PART_LENGTH_MAX = 160;

function shorten(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '?');
  return line.length > REASON_PART_LENGTH_MAX ? `${line.slice(0, REASON_PART_LENGTH_MAX)}…` : line;
}
