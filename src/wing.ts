import type { Core, Gauge } from './api/server.ts';
import type { ServiceConfig } from './config/config.ts';
import type { StoreConnection } from './store/engine.ts';
import type { StoreObserver } from './store/observer.ts';

/**
 * Opens a part of the service that the core does not need, on an open store. src/app.ts lists all wings.
 *
 * @returns undefined if it is off
 * @throws StoreNotReady
 */
export type Wing = (
  connection: StoreConnection,
  config: ServiceConfig,
  observer: StoreObserver,
) => Promise<OpenWing | undefined>;

/** Dispose of it after the server has closed and before the store. */
export interface OpenWing extends AsyncDisposable {
  /** As that of BookStore. */
  readonly lost?: Promise<string> | undefined;
  /** Adds routes. GET /books may be among them: the core adds its own only if no wing has. @returns metrics */
  serve(core: Core): readonly Gauge[];
}
