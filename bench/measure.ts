import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Generator, Played } from './load/generator.ts';
import type { Measurement } from './results.ts';
import { TOKEN } from './services/credentials.ts';
import type { Service } from './services/service.ts';
import { becomesQuiet, readCpuSeconds, readPeakMemoryBytes, resetPeakMemory } from './services/usage.ts';
import { type WorkloadName, workloads } from './workloads.ts';

/** What is measured. */
export interface Task {
  readonly service: Service;
  readonly workload: WorkloadName;
  readonly connections: number;
  /** Whole seconds. */
  readonly seconds: number;
}

/** Makes measurements, each on a fresh state. */
export class Meter {
  readonly #generator: Generator;
  readonly #folder: string;
  /** How many books a service holds, as far as they are as they were filled in. */
  readonly #filled = new Map<Service, number>();
  readonly #requestsFiles = new Map<string, string>();

  /** @param folder where files with requests go */
  constructor(generator: Generator, folder: string) {
    this.#generator = generator;
    this.#folder = folder;
  }

  /** Brings the books into the state that a workload begins with, plays it, and reads what it cost the service. */
  async measure(task: Task): Promise<Omit<Measurement, 'round'>> {
    const { service, workload, connections } = task;
    const { pid } = service.server;
    const books = workloads[workload].books(task.seconds);
    await this.#fill(service, books);
    resetPeakMemory(pid);
    const cpuSeconds = readCpuSeconds(pid);
    const { answers, seconds, p50Ms, p99Ms, ...played } = await this.play({ ...task, books });
    // A service works off what was under way when the generator left, and that is part of what it costs.
    await becomesQuiet(pid);
    if (workloads[workload].writes) this.#filled.delete(service);
    return {
      service: service.name,
      workload,
      connections,
      requestsPerSecond: answers / seconds,
      p50Ms,
      p99Ms,
      cpuMicroseconds: ((readCpuSeconds(pid) - cpuSeconds) / answers) * 1e6,
      peakMemoryBytes: readPeakMemoryBytes(pid),
      generatorShare: played.cpuSeconds / seconds,
      failures: answers === 0 ? 1 : played.failures,
    };
  }

  /** Plays a workload on a service that holds so many books. */
  async play({ service, workload, books, ...load }: Task & { readonly books: number }): Promise<Played> {
    const requestsFile = await this.#requestsFile(workload, books);
    service.server.emptyLog();
    return this.#generator.play({ ...load, url: service.server.url, requestsFile, token: TOKEN });
  }

  async #fill(service: Service, books: number): Promise<void> {
    if (!service.table || this.#filled.get(service) === books) return;
    await service.table.fill(books);
    this.#filled.set(service, books);
  }

  async #requestsFile(workload: WorkloadName, books: number): Promise<string> {
    const name = `${workload}-${books}`;
    const known = this.#requestsFiles.get(name);
    if (known !== undefined) return known;
    const file = join(this.#folder, name);
    await writeFile(file, `${workloads[workload].requests(books).join('\n')}\n`);
    this.#requestsFiles.set(name, file);
    return file;
  }
}
