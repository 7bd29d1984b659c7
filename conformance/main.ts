import { parseArgs, styleText } from 'node:util';
import type { Rule } from './rule.ts';
import { rules } from './rules.ts';
import { checkRule, type Result } from './run.ts';
import { CannotStart, Service, type ServiceOptions, TIMEOUT_MS } from './service.ts';

const HELP = `Tests a running service against the contract, over HTTP. It creates books, and deletes them afterwards. The rules
for the history, for read-only and renewed tokens and for PATCH /books are skipped when the service has none.

  npm run conformance -- --url http://host:8080 --username NAME --password PASSWORD [--secret SECRET]

  --url       scheme, host and port of the service
  --username  the credential pair (default: AUTH_USERNAME
  --password  and AUTH_PASSWORD of the environment)
  --secret    the signing secret, to test self-made tokens as well (default: SECRET_TOKEN of the environment)
  --only      "specification" or "decision": only the rules of the specification, or only those that this project
              adds where the specification is silent (default: both)
  --timeout   seconds until a response must arrive (default: ${TIMEOUT_MS / 1000})
  --help      prints this text

Exit code: 0 when every rule passes, 1 when one fails, 2 on wrong usage or when the service cannot be reached.
The output contains no token, password or secret.`;

const EXIT = { pass: 0, fail: 1, cannotStart: 2, interrupted: 130 } as const;

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof CannotStart)) throw error;
  console.error(`conformance: ${error.message}`);
  process.exitCode = EXIT.cannotStart;
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') {
    console.log(HELP);
    return EXIT.pass;
  }
  let isInterrupted = false;
  process.once('SIGINT', () => {
    isInterrupted = true;
  });

  await using service = await Service.open(options);
  console.log(`Conformance of ${service.host}`);
  const counts = { pass: 0, fail: 0, skipped: 0 };
  let section = '';
  for (const rule of options.rules) {
    const result = await checkRule(service, rule);
    if (rule.section !== section) console.log(`\n${headingOf(rule)}`);
    section = rule.section;
    console.log(lineOf(result));
    counts[result.outcome]++;
    if (isInterrupted) return EXIT.interrupted;
  }

  const remaining = await service.deleteBooks().catch(() => 0);
  if (remaining > 0) console.log(`\n${remaining} books of this run could not be deleted`);
  const { pass, fail, skipped } = counts;
  const summary = `${pass + fail + skipped} rules: ${pass} passed, ${fail} failed, ${skipped} skipped`;
  console.log(`\n${paint(fail === 0 ? 'green' : 'red', summary)}`);
  return fail === 0 ? EXIT.pass : EXIT.fail;
}

type Options = ServiceOptions & { readonly rules: readonly Rule[] };

/** @throws {CannotStart} without the values of the options */
function readOptions(args: string[]): Options | 'help' {
  const { values, positionals } = parse(args);
  if (values.help) return 'help';
  if (positionals.length > 0) throw wrongUsage('unexpected argument');

  const url = URL.parse(values.url ?? '');
  const isOrigin = url !== null && url.href === `${url.origin}/` && /^https?:$/.test(url.protocol);
  if (!isOrigin) throw wrongUsage('--url needs scheme, host and port alone, such as http://localhost:8080');
  const username = values.username ?? process.env.AUTH_USERNAME;
  const password = values.password ?? process.env.AUTH_PASSWORD;
  if (!username) throw wrongUsage('--username is missing');
  if (!password) throw wrongUsage('--password is missing');
  const only = values.only;
  if (only !== undefined && only !== 'specification' && only !== 'decision') {
    throw wrongUsage('--only takes "specification" or "decision"');
  }
  const timeoutMs = Number(values.timeout ?? TIMEOUT_MS / 1000) * 1000;
  if (!(timeoutMs > 0)) throw wrongUsage('--timeout takes a number of seconds');

  const chosen = rules.filter((rule) => only === undefined || rule.group === only);
  return {
    url,
    username,
    password,
    secret: values.secret ?? process.env.SECRET_TOKEN,
    timeoutMs,
    rules: chosen,
  };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const options = {
    url: text,
    username: text,
    password: text,
    secret: text,
    only: text,
    timeout: text,
    help: { type: 'boolean' },
  } as const;
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw wrongUsage(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
  }
}

function wrongUsage(error: string): CannotStart {
  return new CannotStart(`${error.replace(/\.$/, '')} (see --help)`);
}

function headingOf({ section, group }: Rule): string {
  return paint('bold', group === 'specification' ? section : `${section} (added by this project)`);
}

function lineOf(result: Result): string {
  const { outcome, rule } = result;
  if (outcome === 'pass') return `  ${paint('green', 'pass')}  ${rule.text}`;
  if (outcome === 'fail') return `  ${paint('red', 'FAIL')}  ${rule.text}\n        ${result.reason}`;
  return `  ${paint('gray', 'skip')}  ${rule.text}: ${result.reason}`;
}

/** Colours the text on a terminal. */
function paint(format: 'bold' | 'gray' | 'green' | 'red', text: string): string {
  return styleText(format, text, { stream: process.stdout });
}
