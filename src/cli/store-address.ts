import { loadVariables, readConfig } from '../config/config.ts';
import type { StoreAddress } from '../store/address.ts';

/** Where books are kept: of the configuration, all that a command needs which works on the store. @throws ConfigError */
export function loadStoreAddress(): StoreAddress {
  const { DB_URL = '' } = loadVariables();
  return readConfig({ DB_URL, SECRET_TOKEN: 'not needed', AUTH_PASSWORD: 'not needed' }).config.store;
}
