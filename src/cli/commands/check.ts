import { ConfigError, loadVariables, readConfig } from '../../config/config.ts';
import { ENV_FILE } from '../../config/env-file.ts';
import type { StoreAddress } from '../../store/address.ts';
import { loadEngine } from '../../store/load-engine.ts';
import { StoreNotReady } from '../../store/store-errors.ts';
import { EXIT_CODES } from '../command.ts';

/** Reports whether a start would succeed, without changing anything. */
export async function perform(): Promise<number> {
  try {
    const address = checkConfiguration();
    console.log(`store: ok; ${await (await loadEngine(address)).inspect()}`);
    return EXIT_CODES.success;
  } catch (error) {
    if (error instanceof ConfigError) console.log(`configuration: ${error.message}`);
    else if (error instanceof StoreNotReady) console.log(`store: ${error.message}`);
    else throw error;
    return EXIT_CODES.failure;
  }
}

/** @returns the address of the store @throws ConfigError */
function checkConfiguration(): StoreAddress {
  const variables = loadVariables();
  const missing = ['SECRET_TOKEN', 'AUTH_PASSWORD'].filter((name) => variables[name] === undefined);
  const generated = variables.NODE_ENV === 'production' ? [] : missing;
  const placeholders = Object.fromEntries(generated.map((name) => [name, '-'.repeat(64)]));
  const { config, warnings } = readConfig({ ...variables, ...placeholders });
  const notes = generated.length > 0 ? [`${generated.join(' and ')} will be generated into ${ENV_FILE}`] : [];
  console.log(['configuration: ok', ...notes, ...warnings].join('; '));
  return config.store;
}
