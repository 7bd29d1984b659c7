/** Sends requests over keep-alive connections; each sends its next request after the response. */
export interface Generator {
  /** Its name in the report. */
  readonly title: string;
  run(load: Load): Promise<LoadResult>;
}

export interface Load {
  readonly url: string;
  /** A file with one request per line: `METHOD PATH [BODY]`. */
  readonly requestsFile: string;
  readonly token: string;
  readonly connections: number;
  /** Whole seconds. */
  readonly seconds: number;
}

export interface LoadResult {
  /** The responses within the time. */
  readonly responses: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Responses other than 2xx, and failed connections. */
  readonly failures: number;
  /** The CPU time of the generator, which has one thread. */
  readonly cpuSeconds: number;
}
