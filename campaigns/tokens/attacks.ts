import { makeToken } from '../../conformance/tokens.ts';
import {
  otherAlgorithms,
  unsigned,
  withCriticalExtensions,
  withGuessedSecrets,
  withKeyHeaders,
  withOtherSignatures,
} from './forged.ts';
import { Forger } from './forging.ts';
import { malformed, nonCanonical, outOfTime, withInvalidParts } from './malformed.ts';

/**
 * Invalid tokens by description: known attacks, each in all variants.
 *
 * @param secret the key of the service, for tokens that are signed with it and invalid nevertheless
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
      ...forger.keyConfusion(),
      ...withGuessedSecrets(secret, forger),
      ...withKeyHeaders(forger),
      ...withCriticalExtensions(secret, payload),
      ...withOtherSignatures(secret, valid),
      ...nonCanonical(valid),
      ...malformed(valid),
      ...withInvalidParts(secret, payload),
      ...outOfTime(secret, now),
    }),
  );
}
