import { ServiceProcess } from '../../test/process/service-process.ts';
import { createFolder } from '../../test/support/folder.ts';
import { findFreePort } from '../../test/support/free-port.ts';
import { stopCleanly } from '../outage/service.ts';

/** Copies of the service on one database, each a process on a port of its own. Disposing kills them. */
export class Copies implements AsyncDisposable {
  readonly ports: readonly number[];
  readonly #variables: Readonly<Record<string, string>>;
  readonly #folder: Awaited<ReturnType<typeof createFolder>>;
  readonly #running: ServiceProcess[] = [];

  private constructor(
    ports: readonly number[],
    variables: Readonly<Record<string, string>>,
    folder: Awaited<ReturnType<typeof createFolder>>,
  ) {
    this.ports = ports;
    this.#variables = variables;
    this.#folder = folder;
  }

  /** Starts them; resolves when all listen. @param variables their common environment variables */
  static async start(count: number, variables: Readonly<Record<string, string>>): Promise<Copies> {
    const ports: number[] = [];
    while (ports.length < count) ports.push(await findFreePort());
    const copies = new Copies(ports, variables, await createFolder());
    for (const port of ports) copies.#running.push(await copies.#launch(port));
    return copies;
  }

  /** Stops one and starts another in its place. @returns how long the stop took, in milliseconds */
  async restart(index: number): Promise<number> {
    const started = performance.now();
    const copy = this.#running[index] as ServiceProcess;
    await stopCleanly(copy);
    const elapsedMs = performance.now() - started;
    this.#running[index] = await this.#launch(this.ports[index] ?? 0);
    return elapsedMs;
  }

  /** Stops all, and asserts that each exits with 0 and logged no error. */
  async stop(): Promise<void> {
    await Promise.all(this.#running.map(stopCleanly));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const copy of this.#running) await copy[Symbol.asyncDispose]();
    await this.#folder[Symbol.asyncDispose]();
  }

  #launch(port: number): Promise<ServiceProcess> {
    return new ServiceProcess(this.#folder.path, { ...this.#variables, PORT: `${port}` }).listening();
  }
}
