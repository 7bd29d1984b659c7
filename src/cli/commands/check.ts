import { ConfigError, loadVariables, readConfig, type ServiceConfig } from '../../config/config.ts';
import { ENV_FILE, SECRET_NAMES } from '../../config/env-file.ts';
import { StoreNotReady } from '../../store/errors.ts';
import { loadEngine } from '../../store/load-engine.ts';
import { EXIT_CODES } from '../exits.ts';

/** Reports whether a start would succeed, without changing anything. */
export async function perform(options: { readonly json?: true | undefined }): Promise<number> {
  const report: { configuration?: string; store?: string } = {};
  let isOk = false;
  try {
    const { config, notes } = checkConfiguration();
    report.configuration = ['ok', ...notes].join('; ');
    report.store = `ok; ${await (await loadEngine(config.store)).inspect()}`;
    isOk = true;
  } catch (error) {
    if (error instanceof ConfigError) report.configuration = error.message;
    else if (error instanceof StoreNotReady) report.store = error.message;
    else throw error;
  }
  if (options.json) console.log(JSON.stringify({ ok: isOk, ...report }));
  else for (const [part, result] of Object.entries(report)) console.log(`${part}: ${result}`);
  return isOk ? EXIT_CODES.success : EXIT_CODES.failure;
}

/** @returns the configuration, and remarks @throws ConfigError */
function checkConfiguration(): { readonly config: ServiceConfig; readonly notes: readonly string[] } {
  const { variables, warnings: fileWarnings } = loadVariables();
  const missing = SECRET_NAMES.filter((name) => variables[name] === undefined);
  const generated = variables.NODE_ENV === 'production' ? [] : missing;
  const placeholders = Object.fromEntries(generated.map((name) => [name, '-'.repeat(64)]));
  const { config, warnings } = readConfig({ ...variables, ...placeholders });
  const notes = generated.length > 0 ? [`${generated.join(' and ')} will be generated into ${ENV_FILE}`] : [];
  return { config, notes: [...notes, ...fileWarnings, ...warnings] };
}
