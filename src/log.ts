import pino from 'pino';

/** Where log lines go. */
export interface LogStream {
  write(line: string): void;
}

/** A block of the log is written when it has this many bytes, … */
const BLOCK_BYTES = 8_192;

/** … or when it has waited this long. */
const WAIT_MS = 100;

/** What waits for a reader that does not read; beyond it lines are lost, and the service stays. */
const WAITING_BYTES_MAX = 16 * 1_024 * 1_024;

/**
 * The log on standard output, written in blocks and beside the requests: a write for every line costs more than the
 * line. What waits is written when the process ends by itself; a kill may take the last {@link WAIT_MS} along.
 */
export function openLog(): LogStream {
  const log = pino.destination({
    dest: process.stdout.fd,
    sync: false,
    minLength: BLOCK_BYTES,
    maxLength: WAITING_BYTES_MAX,
    periodicFlush: WAIT_MS,
  });
  // Whoever reads the log may go away, or its disk may be full.
  log.on('error', () => {});
  return log;
}
