import { NoResponse } from './client.ts';
import { Mismatch } from './expect.ts';
import type { Rule } from './rule.ts';
import type { Service } from './service.ts';

/** The result of a rule, without anything confidential. */
export type Result =
  | { readonly rule: Rule; readonly outcome: 'pass' }
  | { readonly rule: Rule; readonly outcome: 'fail' | 'skipped'; readonly reason: string };

/** Checks one rule, and deletes the books it created. Never rejects. */
export async function checkRule(service: Service, rule: Rule): Promise<Result> {
  if (rule.needs?.endsWith('secret') && service.secret === undefined) {
    return { rule, outcome: 'skipped', reason: 'needs --secret' };
  }
  try {
    if (rule.needs === 'history' && !(await service.hasHistory())) {
      return { rule, outcome: 'skipped', reason: 'the service has no history' };
    }
    if (rule.needs === 'read-only tokens' && !(await service.hasReadOnlyTokens())) {
      return { rule, outcome: 'skipped', reason: 'the service issues no read-only tokens' };
    }
    if (rule.needs?.startsWith('token renewal') && !(await service.hasTokenRenewal())) {
      return { rule, outcome: 'skipped', reason: 'the service renews no tokens' };
    }
    if (rule.needs === 'pages' && !(await service.hasPages())) {
      return { rule, outcome: 'skipped', reason: 'the service has no pages of the list' };
    }
    if (rule.needs === 'idempotency keys' && !(await service.hasIdempotencyKeys())) {
      return { rule, outcome: 'skipped', reason: 'the service has no idempotency keys' };
    }
    if (rule.needs === 'PATCH /books' && !(await service.hasManyBooks())) {
      return { rule, outcome: 'skipped', reason: 'the service has no PATCH /books' };
    }
    await rule.check(service);
    return { rule, outcome: 'pass' };
  } catch (error) {
    return { rule, outcome: 'fail', reason: reasonOf(error, service) };
  } finally {
    await service.deleteBooks().catch(() => undefined);
  }
}

function reasonOf(error: unknown, service: Service): string {
  const inOneLine = (text: string) => shorten(service.redact(text));
  if (error instanceof Mismatch) {
    return `${inOneLine(error.subject)}: expected ${inOneLine(error.expected)}, got ${inOneLine(error.actual)}`;
  }
  if (error instanceof NoResponse) return `${inOneLine(error.request)}: ${error.reason}`;
  return inOneLine(`the rule itself failed: ${String(error)}`);
}

const REASON_PART_LENGTH_MAX = 160;

function shorten(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '?');
  return line.length > REASON_PART_LENGTH_MAX ? `${line.slice(0, REASON_PART_LENGTH_MAX)}…` : line;
}
