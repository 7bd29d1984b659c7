import { ConfigError, loadVariables, readConfig } from '../../config/config.ts';
import { ENV_FILE } from '../../config/env-file.ts';
import type { StoreAddress } from '../../store/address.ts';
import { inspectStore } from '../../store/open.ts';
import { StoreNotReady } from '../../store/store-errors.ts';
import { EXIT_CODES } from '../exit.ts';

/** Tells whether a start would succeed, as far as that can be seen without a change. */
export async function perform(): Promise<number> {
  const store = checkConfiguration();
  const isFine = store !== undefined && (await checkStore(store));
  return isFine ? EXIT_CODES.success : EXIT_CODES.failure;
}

/** @returns where books are kept; undefined when the configuration cannot be used */
function checkConfiguration(): StoreAddress | undefined {
  try {
    const variables = loadVariables();
    const missing = ['SECRET_TOKEN', 'AUTH_PASSWORD'].filter((name) => variables[name] === undefined);
    const generated = variables.NODE_ENV === 'production' ? [] : missing;
    const standIns = Object.fromEntries(generated.map((name) => [name, STAND_IN]));
    const { config, warnings } = readConfig({ ...variables, ...standIns });
    const notes = [
      ...(generated.length > 0 ? [`${generated.join(' and ')} will be generated into ${ENV_FILE}`] : []),
      ...warnings,
    ];
    console.log(['configuration: good', ...notes].join('; '));
    return config.store;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.log(`configuration: ${error.message}`);
    return undefined;
  }
}

/** For a secret that the first start generates. */
const STAND_IN = '-'.repeat(64);

/** @returns whether it can be used */
async function checkStore(address: StoreAddress): Promise<boolean> {
  try {
    console.log(`store: good; ${await inspectStore(address)}`);
    return true;
  } catch (error) {
    if (!(error instanceof StoreNotReady)) throw error;
    console.log(`store: ${error.message}`);
    return false;
  }
}
