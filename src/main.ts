import { flushCompileCache } from 'node:module';

const args = process.argv.slice(2);
if (args.length === 0 || (args.length === 1 && args[0] === 'serve')) await import('./process/serve.ts');
else {
  const { run } = await import('./cli/run.ts');
  process.exitCode = await run(args);
}
flushCompileCache();
