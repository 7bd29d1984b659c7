import { sqlState } from '../error-codes.ts';
import { NO_PASSWORD, NO_TLS, reasonOf } from '../errors.ts';
import type { Conninfo } from './conninfo.ts';
import { StandbyServer } from './session-settings.ts';

/** Why a connection could not be opened, for operators. */
export function explainFailure(
  { host = 'by default', hostaddr = host, port, dbname = 'by default' }: Conninfo,
  error: unknown,
): string {
  return `PostgreSQL (host ${hostaddr}, port ${port ?? 'by default'}, database ${dbname}) ${explain(error)}`;
}

function explain(error: unknown): string {
  if (error instanceof StandbyServer) return 'is a standby: give the address of the primary';
  const reason = reasonOf(error);
  if (reason === NO_TLS) return 'offers no TLS, which sslmode demands';
  if (reason === NO_PASSWORD) return 'demands a password';
  const other = sqlState(error) === undefined ? 'cannot be reached' : 'refuses the connection';
  return `${EXPLANATIONS.find(([reasons]) => reasons.test(reason))?.[1] ?? other} (${reason})`;
}

const EXPLANATIONS: readonly (readonly [reasons: RegExp, explanation: string])[] = [
  [/^(28P01|28000)$/, 'refuses this user or password'],
  [/^3D000$/, 'has no such database'],
  [/CERT|LEAF_SIGNATURE/, 'has a certificate that is not accepted'],
  [/^ERR_OSSL/, 'cannot be reached, as sslcert or sslkey cannot be used'],
];
