import { NoAnswerError, RefusedError } from '../../../src/client/index.ts';
import { SignInError } from '../session/token.ts';
import { texts } from './language.ts';

/** Why a call failed, in a sentence for people. */
export function explain(error: unknown): string {
  const { faults } = texts.value;
  if (error instanceof SignInError) return texts.value.signInFault[error.fault];
  if (error instanceof NoAnswerError) return error.reason === 'timeout' ? faults.timeout : faults.away;
  if (!(error instanceof RefusedError)) return faults.defect;
  if (error.status >= 500) return error.status === 503 ? faults.unavailable : faults.defect;
  return error.status === 413 ? faults.tooLong : faults.refused;
}
