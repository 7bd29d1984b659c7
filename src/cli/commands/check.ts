import { ConfigError, loadVariables, readConfig } from '../../config/config.ts';
import { ENV_FILE } from '../../config/env-file.ts';
import type { StoreAddress } from '../../store/address.ts';
import { loadEngine } from '../../store/load-engine.ts';
import { StoreNotReady } from '../../store/store-errors.ts';
import { EXIT_CODES } from '../command.ts';

/** Reports whether a start would succeed, without changing anything. */
export async function perform(): Promise<number> {
  const store = checkConfiguration();
  return store !== undefined && (await checkStore(store)) ? EXIT_CODES.success : EXIT_CODES.failure;
}

/** @returns the address of the store; undefined when the configuration is invalid */
function checkConfiguration(): StoreAddress | undefined {
  try {
    const variables = loadVariables();
    const missing = ['SECRET_TOKEN', 'AUTH_PASSWORD'].filter((name) => variables[name] === undefined);
    const generated = variables.NODE_ENV === 'production' ? [] : missing;
    const placeholders = Object.fromEntries(generated.map((name) => [name, PLACEHOLDER]));
    const { config, warnings } = readConfig({ ...variables, ...placeholders });
    const remarks = [
      ...(generated.length > 0 ? [`${generated.join(' and ')} will be generated into ${ENV_FILE}`] : []),
      ...warnings,
    ];
    console.log(['configuration: ok', ...remarks].join('; '));
    return config.store;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.log(`configuration: ${error.message}`);
    return undefined;
  }
}

/** In place of a secret that the first start generates. */
const PLACEHOLDER = '-'.repeat(64);

/** @returns whether the store is usable */
async function checkStore(address: StoreAddress): Promise<boolean> {
  try {
    console.log(`store: ok; ${await (await loadEngine(address)).inspect()}`);
    return true;
  } catch (error) {
    if (!(error instanceof StoreNotReady)) throw error;
    console.log(`store: ${error.message}`);
    return false;
  }
}
