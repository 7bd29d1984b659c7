import { type Address, engines } from '../testkit/engines.ts';
import { createFolder } from '../testkit/folder.ts';
import { PASSWORD, SECRET } from '../testkit/service.ts';
import { ServiceProcess } from '../testkit/service-process.ts';
import type { EngineName } from './campaign.ts';

/** Creates an empty store. Disposing deletes it. */
export async function createAddress(engine: EngineName): Promise<Address> {
  const address = await engines.find(({ name }) => name === engine)?.createAddress();
  if (!address) throw new Error(`there is no engine ${engine}`);
  return address;
}

/** A process and its working directory. Disposing kills it, and deletes the directory and the store. */
interface LaunchedService extends AsyncDisposable {
  readonly service: ServiceProcess;
  readonly folder: string;
}

/** Starts a service with SECRET and PASSWORD on an empty store, and does not wait until it listens. */
export async function launchService(
  engine: EngineName,
  variables: Readonly<Record<string, string>> = {},
  nodeOptions: readonly string[] = [],
): Promise<LaunchedService> {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await createFolder()).path;
  const { dbUrl } = resources.use(await createAddress(engine));
  const all = { DB_URL: dbUrl, SECRET_TOKEN: SECRET, AUTH_PASSWORD: PASSWORD, ...variables };
  const service = resources.use(new ServiceProcess(folder, all, nodeOptions));
  const launched = resources.move();
  return { service, folder, [Symbol.asyncDispose]: () => launched.disposeAsync() };
}
