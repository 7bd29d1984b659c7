import { READ_SCOPE, scopeOf, Tokens } from '../src/auth/tokens.ts';
import { CommandError, EXIT_CODES, UsageError } from '../src/cli/exits.ts';
import { loadVariables } from '../src/config/config.ts';
import { readVersion } from '../src/config/version.ts';
import { Secret } from '../src/secret.ts';

/** Serves an assistant on standard input and output, until it closes them. */
export async function perform(options: {
  readonly url?: string | undefined;
  readonly allowChanges?: true | undefined;
}): Promise<number> {
  const { variables } = loadVariables(['BOOKKEEPING_TOKEN']);
  const { BOOKKEEPING_TOKEN: token, SECRET_TOKEN: secret, PORT = '8080' } = variables;
  if (token === undefined && secret === undefined)
    throw new CommandError(
      'mcp: BOOKKEEPING_TOKEN or SECRET_TOKEN must be set, in the environment or in .env of the working directory',
    );
  const { url = `http://localhost:${PORT}`, allowChanges: isAllowed = false } = options;
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new UsageError('mcp: --url must be an http or https URL');
  const allowChanges = isAllowed && scopeOf(token ?? '') !== READ_SCOPE;
  if (isAllowed && !allowChanges) console.error('bookkeeping: BOOKKEEPING_TOKEN is read-only: no changes');
  const tokens = new Tokens(new Secret(secret ?? ''), Date.now);
  const { serve } = await import('./server.ts').catch(explainMissing);
  await serve({
    url,
    token: async () => token ?? tokens.issue(undefined, allowChanges ? undefined : READ_SCOPE),
    allowChanges,
    version: readVersion(),
  });
  return EXIT_CODES.success;
}

function explainMissing(error: NodeJS.ErrnoException): never {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  throw new CommandError(
    'mcp: its packages are not installed; node scripts/install.mjs --with-mcp installs them',
  );
}
