import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Janitor } from '../../testkit/cluster-janitor.ts';
import { findFreePort } from '../../testkit/free-port.ts';
import { createProgramFolder, Program } from '../program.ts';

/** An etcd of one member on loopback. Disposing stops it and deletes its data. */
export class Etcd implements AsyncDisposable {
  readonly port: number;
  readonly #peerPort: number;
  readonly #folder: string;
  readonly #janitor: Janitor;
  #program: Program | undefined;

  private constructor(ports: readonly [number, number], folder: string, janitor: Janitor) {
    [this.port, this.#peerPort] = ports;
    this.#folder = folder;
    this.#janitor = janitor;
  }

  static async start(): Promise<Etcd> {
    const { folder, janitor } = await createProgramFolder();
    const etcd = new Etcd([await findFreePort(), await findFreePort()], folder, janitor);
    await etcd.start();
    return etcd;
  }

  /** Resolves when it serves. */
  async start(): Promise<void> {
    const [client, peer] = [this.port, this.#peerPort].map((port) => `http://127.0.0.1:${port}`);
    const program = new Program(this.#folder, 'etcd', [
      '--name=one',
      `--data-dir=${join(this.#folder, 'store')}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=one=${peer}`,
      '--enable-v2',
    ]);
    this.#program = program;
    for (;;) {
      if (!program.isRunning) throw new Error(`etcd has exited: ${await program.tail()}`);
      const isHealthy = await fetch(`${client}/health`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isHealthy) return;
      await sleep(50);
    }
  }

  async stop(): Promise<void> {
    await this.#program?.end('SIGTERM');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program?.end('SIGKILL');
    await this.#janitor[Symbol.asyncDispose]();
  }
}
