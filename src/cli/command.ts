/** A command, as its help and the reader of its arguments see it. */
export interface Command {
  /** What it does, in a line. */
  readonly summary: string;
  readonly operands: readonly Operand[];
  readonly options: Readonly<Record<string, Option>>;
  /** What else people need to know. */
  readonly notes: string;
  /** Loads what performs it: no command pays for the others. */
  load(): Promise<{ readonly perform: (given: Given) => Promise<number> }>;
}

interface Operand {
  readonly name: string;
  readonly isRequired: boolean;
}

interface Option {
  readonly meaning: string;
  /** What its value is called in the help; absent where it takes none. */
  readonly value?: string;
}

/** What a command was given. */
export interface Given {
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly operands: readonly string[];
}
