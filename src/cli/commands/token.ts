import { TOKEN_LIFETIME_SECONDS, Tokens } from '../../auth/tokens.ts';
import { loadConfig } from '../../config/config.ts';
import { UsageError } from '../arguments.ts';
import type { Given } from '../command.ts';
import { EXIT_CODES } from '../exit.ts';

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Ten years: who needs more has mistaken the unit. */
const LIFETIME_SECONDS_MAX = 3_650 * 86_400;

/** Prints a token alone. */
export async function perform({ options }: Given): Promise<number> {
  const lifetime = options.ttl === undefined ? TOKEN_LIFETIME_SECONDS : readLifetime(String(options.ttl));
  const { secrets, generated } = loadConfig();
  if (generated.length > 0)
    console.error(`bookkeeping generated ${generated.join(', ')} and wrote them to .env`);
  console.log(await new Tokens(secrets.token, Date.now).issue(lifetime));
  return EXIT_CODES.success;
}

/** @returns seconds @throws UsageError */
function readLifetime(text: string): number {
  const [, count = '', unit = 's'] = /^([0-9]{1,10})([smhd]?)$/.exec(text) ?? [];
  const seconds = Number(count) * (UNIT_SECONDS[unit || 's'] ?? 0);
  if (!(seconds >= 1 && seconds <= LIFETIME_SECONDS_MAX)) {
    throw new UsageError('token: --ttl must be a time such as 900, 15m, 1h or 7d, and at most 3650d');
  }
  return seconds;
}
