import { type BookClient, BookkeepingError, createClient } from '../../client/index.ts';
import { Tokens } from '../auth/tokens.ts';
import { loadConfig } from '../config/config.ts';
import { CommandError, UsageError } from './exits.ts';

/** Makes a client of a running service, with tokens that are signed with SECRET_TOKEN. @throws ConfigError, UsageError */
export function openClient(url: string | undefined): BookClient {
  const { config, secrets } = loadConfig();
  const tokens = new Tokens(secrets.tokenKey, Date.now);
  try {
    return createClient({ url: url ?? `http://localhost:${config.port}`, token: async () => tokens.issue() });
  } catch {
    throw new UsageError('--url must be an http or https URL');
  }
}

/** An error of the client as one for the user. */
export function toCommandError(error: unknown): unknown {
  if (!(error instanceof BookkeepingError)) return error;
  const hint = error.message === 'Not found' ? ': the service does not record its history, see HISTORY' : '';
  return new CommandError(`${error.message}${hint}`);
}
