import { READ_SCOPE, TOKEN_LIFETIME_SECONDS, Tokens } from '../../auth/tokens.ts';
import { loadConfig } from '../../config/config.ts';
import { ENV_FILE } from '../../config/env-file.ts';
import { EXIT_CODES, UsageError } from '../exits.ts';

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Ten years; a longer lifetime is probably a wrong unit. */
const LIFETIME_SECONDS_MAX = 3_650 * 86_400;

/** Prints a token and nothing else. */
export async function perform({
  ttl,
  readOnly,
}: {
  readonly ttl?: string | undefined;
  readonly readOnly?: true | undefined;
}): Promise<number> {
  const lifetime = ttl === undefined ? TOKEN_LIFETIME_SECONDS : parseLifetime(ttl);
  const { secrets, generated } = loadConfig();
  if (generated.length > 0) console.error(`bookkeeping: generated ${generated.join(', ')} in ${ENV_FILE}`);
  console.log(new Tokens(secrets.tokenKey, Date.now).issue(lifetime, readOnly ? READ_SCOPE : undefined));
  return EXIT_CODES.success;
}

/** @returns seconds @throws UsageError */
function parseLifetime(text: string): number {
  const [, count = '', unit = 's'] = /^([0-9]{1,10})([smhd]?)$/.exec(text) ?? [];
  const seconds = Number(count) * (UNIT_SECONDS[unit || 's'] ?? 0);
  if (seconds >= 1 && seconds <= LIFETIME_SECONDS_MAX) return seconds;
  throw new UsageError('token: --ttl must be a time such as 900, 15m, 1h or 7d, and at most 3650d');
}
