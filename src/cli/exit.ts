/** How a command ends. */
export const EXIT_CODES = {
  success: 0,
  /** It could not do what it was asked for, or not all of it. */
  failure: 1,
  /** The command line cannot be followed; nothing was done. */
  usage: 2,
  /** Interrupted, as shells count signals: 128 and the number of SIGINT. */
  interrupted: 130,
  /** Nobody reads the output any more: 128 and the number of SIGPIPE. */
  brokenPipe: 141,
} as const;

/** A command cannot do what it was asked for. The message is one line for people, without secrets. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}
