/** How grave a log line is, by the names that `LOG_LEVEL` takes, in the numbers of pino; `silent` is graver than any. */
export const LOG_LEVELS = {
  trace: 10,
  debug: 20,
  info: 30,
  warn: 40,
  error: 50,
  fatal: 60,
  silent: Number.POSITIVE_INFINITY,
} as const;

/** The name of a level. */
export type LogLevel = keyof typeof LOG_LEVELS;

/** Whether a text is one of the names. */
export function isLogLevel(text: string): text is LogLevel {
  return Object.hasOwn(LOG_LEVELS, text);
}
