import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import type { LogLevel } from './log-level.ts';

/** Where log lines go. */
export interface LogStream {
  write(line: string): void;
  /** Resolves when everything is written, or after {@link CLOSE_MS_MAX}; what is written later is dropped. */
  close?(): Promise<void>;
}

/** Writes lines about what is no request. */
export function openLogger(stream: LogStream, level: LogLevel): Pick<pino.Logger, 'info' | 'warn' | 'fatal'> {
  return pino({ base: null, level }, stream);
}

/** Lines are gathered into blocks of at most so many bytes, … */
const BLOCK_BYTES_MAX = 16_384;

/**
 * … of fewer where several processes write: those Linux puts into a pipe in one piece (PIPE_BUF), so that lines never
 * mix, …
 */
const SHARED_BLOCK_BYTES_MAX = 4_096;

/** … or of what came within this time. */
const WAIT_MS = 100;

/** What waits for a reader that does not read; beyond it lines are lost, and the service stays. */
const WAITING_BYTES_MAX = 16 * 1_024 * 1_024;

/** How long closing the log waits for a late reader. */
const CLOSE_MS_MAX = 500;

/** How often a sudden end of the process tries such a reader again, with 100 ms between. */
const LAST_ATTEMPTS_MAX = 5;

/**
 * The log on standard output, written in blocks of whole lines and beside the requests: a write for every line costs
 * more than the line. A longer line is a block of its own, the only one that may get mixed with others. Closing it
 * writes what waits; a process that ends by itself without that may lose the block that is just being written, and a
 * kill takes the last {@link WAIT_MS} along.
 *
 * @param isShared whether other processes write to the same standard output
 */
export function openLog({ isShared }: { readonly isShared: boolean }): LogStream {
  const blockBytesMax = isShared ? SHARED_BLOCK_BYTES_MAX : BLOCK_BYTES_MAX;
  let block = '';
  let timer: NodeJS.Timeout | undefined;
  let isLost = false;
  let isClosed = false;
  let attemptsLeft = Number.POSITIVE_INFINITY;

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (Buffer.byteLength(block) <= blockBytesMax) log.write(block);
    else for (const line of block.split(/(?<=\n)/)) log.write(line);
    block = '';
  };

  // It comes before the stream's own, which would try for ever.
  process.on('exit', () => {
    attemptsLeft = isClosed ? 0 : LAST_ATTEMPTS_MAX;
    try {
      flush();
      if (!isLost) log.flushSync();
    } catch {
      // Nobody reads, or all is written.
    }
    log.destroy();
  });

  const log = pino.destination({
    dest: process.stdout.fd,
    sync: false,
    maxWrite: blockBytesMax,
    maxLength: WAITING_BYTES_MAX,
    retryEAGAIN: () => attemptsLeft-- > 0,
  });
  // Whoever reads the log may go away, or its disk may be full.
  log.on('error', () => {
    isLost = true;
  });

  return {
    write(line) {
      if (isClosed) return;
      if (block.length + line.length > blockBytesMax) flush();
      block += line;
      timer ??= setTimeout(flush, WAIT_MS);
    },

    async close() {
      flush();
      isClosed = true;
      const isWritten = once(log, 'close');
      log.end();
      await Promise.race([isWritten, sleep(CLOSE_MS_MAX)]).catch(() => {});
    },
  };
}
