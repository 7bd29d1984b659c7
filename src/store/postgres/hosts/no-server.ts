import { StoreUnavailable } from '../../../book/book-store.ts';
import { StoreNotReady } from '../../errors.ts';
import { NO_PASSWORD, NO_TLS, reasonOf, sqlState } from '../errors.ts';
import type { Conninfo, Host } from './conninfo.ts';

/** None of the hosts has a suitable server. */
export class NoServer extends Error {
  readonly #failures: readonly { readonly host: Host; readonly cause: unknown }[];

  constructor(failures: readonly { readonly host: Host; readonly cause: unknown }[]) {
    super('no server suits');
    this.#failures = failures;
  }

  toStoreUnavailable(): StoreUnavailable {
    return new StoreUnavailable(this.#failures.map(({ cause }) => shortReason(cause)).join(' and '));
  }

  toStoreNotReady({ dbname = 'by default' }: Conninfo): StoreNotReady {
    const causes = this.#failures.map(({ cause }) => cause);
    const misconfiguration = causes.find((cause) => cause instanceof StoreNotReady);
    if (misconfiguration) return misconfiguration;
    const explanations = this.#failures.map(
      ({ host: { name, address = name ?? 'by default', port = 'by default' }, cause }) =>
        `(host ${address}, port ${port}, database ${dbname}) ${explain(cause)}`,
    );
    return new StoreNotReady(`PostgreSQL ${explanations.join('; ')}`);
  }
}

function shortReason(error: unknown): string {
  return error instanceof StoreUnavailable ? error.reason : reasonOf(error);
}

function explain(error: unknown): string {
  const reason = shortReason(error);
  if (error instanceof StoreUnavailable) return `does not suit (${reason})`;
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
