import type { Core, Gauge } from './api/server.ts';
import type { ServiceConfig } from './config/config.ts';
import type { StoreConnection } from './store/engine.ts';
import type { StoreObserver } from './store/observer.ts';

/** A part of the service that the core does not need. src/app.ts lists all wings. */
export interface Wing {
  /**
   * Opens it on an open store.
   *
   * @returns undefined if it is off
   * @throws StoreNotReady
   */
  open(
    connection: StoreConnection,
    config: ServiceConfig,
    observer: StoreObserver,
  ): Promise<OpenWing | undefined>;
}

/** Dispose of it after the server has closed and before the store. */
export interface OpenWing extends AsyncDisposable {
  /** As that of BookStore. */
  readonly lost?: Promise<string> | undefined;
  /** Adds routes, or parameters to GET /books. @returns metrics */
  serve(core: Core): readonly Gauge[];
}
