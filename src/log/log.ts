import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import type { LogLevel } from './log-level.ts';

export interface LogStream {
  write(line: string): void;
  /** Resolves when everything is written, or after {@link CLOSE_MS_MAX}; later lines are dropped. */
  close?(): Promise<void>;
}

/** A logger for events other than requests. */
export function openLogger(stream: LogStream, level: LogLevel): Pick<pino.Logger, 'info' | 'warn' | 'fatal'> {
  return pino({ base: null, level }, stream);
}

const FLUSH_INTERVAL_MS = 100;
const BLOCK_BYTES_MAX = 16_384;

/** For a slow reader; further lines are dropped. */
const BUFFER_BYTES_MAX = 16 * 1_024 * 1_024;
/** The time for a slow reader when the log is closed. */
const CLOSE_MS_MAX = 500;
/** The retries, every 100 ms, when the process exits without closing the log and the reader is slow. */
const LAST_ATTEMPTS_MAX = 5;

/**
 * Writes the log to standard output in blocks of lines, as a write for each line is slow. An exit without closing may lose
 * the current block, and SIGKILL the lines of the last {@link FLUSH_INTERVAL_MS}.
 */
export function openLog(): LogStream {
  let block = '';
  let timer: NodeJS.Timeout | undefined;
  let isLost = false;
  let isClosed = false;
  let attemptsLeft = Number.POSITIVE_INFINITY;

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    log.write(block);
    block = '';
  };

  // This listener runs before the stream's own, which would retry forever.
  process.on('exit', () => {
    attemptsLeft = isClosed ? 0 : LAST_ATTEMPTS_MAX;
    try {
      flush();
      if (!isLost) log.flushSync();
    } catch {
      // The reader has exited, or everything is written.
    }
    log.destroy();
  });

  const log = pino.destination({
    dest: process.stdout.fd,
    sync: false,
    maxWrite: BLOCK_BYTES_MAX,
    maxLength: BUFFER_BYTES_MAX,
    retryEAGAIN: () => attemptsLeft-- > 0,
  });
  log.on('error', () => {
    isLost = true;
  });

  return {
    write(line) {
      if (isClosed) return;
      if (block.length + line.length > BLOCK_BYTES_MAX) flush();
      block += line;
      timer ??= setTimeout(flush, FLUSH_INTERVAL_MS);
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
