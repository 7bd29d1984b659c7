import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';

const args = process.argv.slice(2);
if (args.length === 0 || (args.length === 1 && args[0] === 'serve')) await import('./process/serve.ts');
else {
  const { run } = await import('./cli/run.ts');
  process.exitCode = await run(args);
}
flushCompileCache();
// If more than a hundred requests wait when V8 first collects its young generation at full size, it takes their objects for long-lived and
// makes later ones in the old generation, where each keeps what it refers to until a full collection (bench/MEASUREMENTS.md). After the
// flush, as V8 rejects what was compiled with other flags.
setFlagsFromString('--no-allocation-site-pretenuring');
