import type { StoreAddress } from './address.ts';
import type { Engine } from './engine.ts';

/** Loads the modules of the engine of an address, and not those of the other one. */
export async function loadEngine(address: StoreAddress): Promise<Engine> {
  if (address.engine === 'sqlite') return (await import('./sqlite/engine.ts')).createEngine(address.path);
  return (await import('./postgres/engine.ts')).createEngine(address.conninfo);
}
