/** The position of a change, and the log that has it. */
export interface ChangeCursor {
  readonly log: string;
  readonly position: number;
}

export function writeChangeCursor({ log, position }: ChangeCursor): string {
  return `${log}.${position}`;
}

/** @returns undefined when the text is none that {@link writeChangeCursor} writes */
export function readChangeCursor(text: string): ChangeCursor | undefined {
  const [, log = '', digits = ''] = /^([0-9a-f]+)[.](0|[1-9][0-9]*)$/.exec(text) ?? [];
  const position = Number(digits);
  return log !== '' && Number.isSafeInteger(position) ? { log, position } : undefined;
}
