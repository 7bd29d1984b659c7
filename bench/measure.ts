import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Generator, LoadResult } from './load/load.ts';
import { TOKEN } from './services/credentials.ts';
import type { Kept, Service, ServiceName } from './services/service.ts';
import { readCpuSeconds, readPeakMemoryBytes, resetPeakMemory, waitUntilIdle } from './services/usage.ts';
import { type WorkloadName, workloads } from './workloads.ts';

/** The measurements of a service with one workload and number of connections, one in each round. */
export interface Series {
  readonly service: ServiceName;
  readonly workload: WorkloadName;
  readonly connections: number;
  /** See {@link Service}. */
  readonly kept?: Kept | undefined;
}

export interface Measurement extends Series {
  readonly round: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the service's process per request. */
  readonly cpuMicroseconds: number;
  readonly peakMemoryBytes: number;
  /** The utilization of the generator's thread, from 0 to 1. */
  readonly generatorShare: number;
  /** Responses other than 2xx, and lost connections; with any, the measurement is invalid. */
  readonly failures: number;
}

interface Task {
  readonly service: Service;
  readonly workload: WorkloadName;
  readonly connections: number;
  /** Whole seconds. */
  readonly seconds: number;
}

/** Measures services, each time from the same state. */
export class Meter {
  readonly #generator: Generator;
  readonly #folder: string;
  /** The number of books of each service that has not been written to since they were filled in. */
  readonly #filled = new Map<Service, number>();
  readonly #requestsFiles = new Map<string, string>();

  /** @param folder for files with requests */
  constructor(generator: Generator, folder: string) {
    this.#generator = generator;
    this.#folder = folder;
  }

  /** Restores the books, runs a workload, and reads the resources that the service used. */
  async measure(task: Task): Promise<Omit<Measurement, 'round'>> {
    const { service, workload, connections } = task;
    const { pid } = service.server;
    const books = workloads[workload].books(task.seconds);
    await this.#fill(service, books);
    resetPeakMemory(pid);
    const cpuSeconds = readCpuSeconds(pid);
    const { responses, seconds, p50Ms, p99Ms, ...result } = await this.run({ ...task, books });
    // The CPU time includes the requests that were pending at the end.
    await waitUntilIdle(pid);
    if (workloads[workload].writes) this.#filled.delete(service);
    return {
      service: service.name,
      kept: service.kept,
      workload,
      connections,
      requestsPerSecond: responses / seconds,
      p50Ms,
      p99Ms,
      cpuMicroseconds: ((readCpuSeconds(pid) - cpuSeconds) / responses) * 1e6,
      peakMemoryBytes: readPeakMemoryBytes(pid),
      generatorShare: result.cpuSeconds / seconds,
      failures: responses === 0 ? 1 : result.failures,
    };
  }

  /** Runs a workload on a service with `books` books. */
  async run(task: Task & { readonly books: number }): Promise<LoadResult> {
    const { service, workload, books, ...load } = task;
    const requestsFile = await this.#requestsFile(workload, books);
    service.server.truncateLog();
    return this.#generator.run({ ...load, url: service.server.url, requestsFile, token: TOKEN });
  }

  async #fill(service: Service, books: number): Promise<void> {
    if (!service.table || this.#filled.get(service) === books) return;
    await service.table.fill(books);
    this.#filled.set(service, books);
  }

  async #requestsFile(workload: WorkloadName, books: number): Promise<string> {
    const name = `${workload}-${books}`;
    const existing = this.#requestsFiles.get(name);
    if (existing !== undefined) return existing;
    const file = join(this.#folder, name);
    await writeFile(file, `${workloads[workload].requests(books).join('\n')}\n`);
    this.#requestsFiles.set(name, file);
    return file;
  }
}
