import type { LoadedConfiguration } from '../config/config.ts';
import { ENV_FILE } from '../config/env-file.ts';
import { hasConsole } from '../web/console.ts';

/** Prints warnings to standard error, and instructions to a terminal; otherwise the log has the address. */
export function printStartupMessage(configuration: LoadedConfiguration, url: string): void {
  const { generated, warnings, passwordIn, secrets } = configuration;
  for (const warning of warnings) console.error(`bookkeeping: warning: ${warning}`);
  if (generated.length > 0) console.error(`bookkeeping: generated ${generated.join(', ')} in ${ENV_FILE}`);
  const isConsoleBuilt = hasConsole();
  if (!isConsoleBuilt)
    console.error('bookkeeping: warning: the web console is not built; npm run build:console builds it');
  if (!process.stdout.isTTY) return;

  const isInFile = passwordIn === 'file';
  const credentials = generated.includes('AUTH_USERNAME')
    ? `the username and password in ${ENV_FILE}`
    : `the username ${secrets.username} and the password AUTH_PASSWORD in ${isInFile ? ENV_FILE : 'the environment'}`;
  console.log(`
  Open ${url}${isConsoleBuilt ? '/' : '/docs'} and sign in with ${credentials}${isConsoleBuilt ? `\n  The API documentation is at ${url}/docs` : ''}

  Try it in another terminal, ${isInFile ? 'in this folder' : 'with the same environment'}:

    TOKEN=$(npx bookkeeping token)
    curl -H "Authorization: $TOKEN" ${url}/books
`);
}
