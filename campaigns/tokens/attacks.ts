import { makeToken } from '../../conformance/tokens.ts';
import {
  guessed,
  otherAlgorithms,
  unsigned,
  withCriticalExtensions,
  withKeysFromElsewhere,
  withOtherSignatures,
} from './forged.ts';
import { Forger } from './forging.ts';
import { misshapen, misspelt, outOfTime, withOddParts } from './malformed.ts';

/**
 * Tokens that nobody may get in with, by what is wrong with them: what attackers have tried on others, in all its
 * spellings.
 *
 * @param secret the key of the service; attacks that need it show what its owner must not have signed by mistake
 * @param now the time of the service, in seconds since 1970
 */
export function attacksOn(secret: string, now: number): ReadonlyMap<string, string> {
  const payload = { exp: now + 900 };
  const valid = makeToken(secret, { payload });
  const forger = new Forger(payload);
  return new Map(
    Object.entries({
      ...unsigned(secret, payload),
      ...otherAlgorithms(secret, payload),
      ...forger.asymmetric(),
      ...forger.confused(),
      ...guessed(secret, forger),
      ...withKeysFromElsewhere(forger),
      ...withCriticalExtensions(secret, payload),
      ...withOtherSignatures(secret, valid),
      ...misspelt(valid),
      ...misshapen(valid),
      ...withOddParts(secret, payload),
      ...outOfTime(secret, now),
    }),
  );
}
