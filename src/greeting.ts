import type { Configuration } from './config.ts';
import { listConsoleFiles } from './console-folder.ts';
import { ENV_FILE } from './env-file.ts';

/**
 * Tells who started the service what they need next. On a terminal that is how to use it; elsewhere the log has said
 * that it listens, and only warnings are left. Passwords are never printed.
 */
export function greet(configuration: Configuration, url: string): void {
  const { generated, warnings, passwordIn, secrets } = configuration;
  for (const warning of warnings) console.error(`bookkeeping warns: ${warning}`);
  if (generated.length > 0)
    console.error(`bookkeeping generated ${generated.join(', ')} and wrote them to ${ENV_FILE}`);
  const hasConsole = listConsoleFiles().has('index.html');
  if (!hasConsole)
    console.error('bookkeeping warns: its page for people is not built; npm run build:console does that');
  if (!process.stdout.isTTY) return;

  const isInFile = passwordIn === 'file';
  const username = JSON.stringify(secrets.username).replaceAll("'", String.raw`'\''`);
  console.log(`
  The bookkeeping service is at ${url}
  ${hasConsole ? `Its page for people is at ${url}/console/\n  ` : ''}Its API, to read and to try, is at ${url}/docs
  Its username is ${secrets.username}, its password is AUTH_PASSWORD in ${isInFile ? `the file ${ENV_FILE}` : 'the environment'}

  Try it in another terminal, ${isInFile ? 'in this folder' : 'with the same environment'}:

    ${isInFile ? `. ./${ENV_FILE}; ` : ''}TOKEN=$(curl -s ${url}/token -d '{"username":${username},"password":"'"$AUTH_PASSWORD"'"}' | cut -d'"' -f12)
    curl -H "Authorization: $TOKEN" ${url}/books
`);
}
