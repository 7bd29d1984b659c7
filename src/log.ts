import pino from 'pino';

/** Where log lines go. */
export interface LogStream {
  write(line: string): void;
}

/** Lines are gathered into blocks of this length, … */
const BLOCK_LENGTH = 8_192;

/** … or of what came within this time. */
const WAIT_MS = 100;

/** What waits for a reader that does not read; beyond it lines are lost, and the service stays. */
const WAITING_BYTES_MAX = 16 * 1_024 * 1_024;

/**
 * The log on standard output, written in blocks and beside the requests: a write for every line costs more than the
 * line. What waits is written when the process ends by itself; a kill may take the last {@link WAIT_MS} along.
 */
export function openLog(): LogStream {
  let block = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    log.write(block);
    block = '';
  };
  // It comes before the stream's own, which writes what it has been given.
  process.on('exit', flush);

  const log = pino.destination({ dest: process.stdout.fd, sync: false, maxLength: WAITING_BYTES_MAX });
  // Whoever reads the log may go away, or its disk may be full.
  log.on('error', () => {});

  return {
    write(line) {
      block += line;
      if (block.length > BLOCK_LENGTH) flush();
      else timer ??= setTimeout(flush, WAIT_MS);
    },
  };
}
