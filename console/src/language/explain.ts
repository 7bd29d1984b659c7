import { NoAnswerError, RefusedError } from '../../../src/client/index.ts';
import { texts } from './language.ts';

/** Why a call failed, in a sentence for people. */
export function explain(error: unknown): string {
  const { faults, signInFault } = texts.value;
  if (error instanceof NoAnswerError) return error.reason === 'timeout' ? faults.timeout : faults.away;
  if (!(error instanceof RefusedError)) return faults.defect;
  if (error.status >= 500) return error.status === 503 ? faults.unavailable : faults.defect;
  if (error.status === 401) return faults.session;
  if (error.status === 429) return signInFault.throttled;
  return error.status === 413 ? faults.tooLong : faults.refused;
}
