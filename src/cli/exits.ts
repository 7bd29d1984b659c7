export const EXIT_CODES = {
  success: 0,
  /** The command failed, or did only a part of its work. */
  failure: 1,
  /** The command line is invalid; nothing was done. */
  usage: 2,
  /** 128 and the number of SIGINT, as in shells. */
  interrupted: 130,
  /** Standard output or standard error was closed: 128 and the number of SIGPIPE. */
  brokenPipe: 141,
} as const;

/** The command line is invalid. The message is one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command cannot do its work. The message is one line for the user, without secrets. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
