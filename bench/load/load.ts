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

/** Requests are sent when they are due, at equal intervals, whether or not there are responses to earlier ones. */
export interface OpenLoad extends Load {
  /** Requests/s. */
  readonly rate: number;
}

/** Latencies include the time from when a request was due until it was sent. */
export interface OpenLoadResult extends LoadResult {
  readonly p999Ms: number;
  readonly maxMs: number;
  /** How late the generator itself has sent requests: the 99.9th percentile. */
  readonly delayP999Ms: number;
}
