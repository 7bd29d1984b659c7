import { clearLine, cursorTo } from 'node:readline';

type Terminal = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

export interface ProgressState {
  /** The number of processed items; undefined when they are not counted. */
  readonly count: number | undefined;
  /** The processed fraction, from 0 to 1; undefined when it is unknown. */
  readonly fraction: number | undefined;
}

/** The interval of updates on a terminal, and of lines elsewhere. */
const BAR_INTERVAL_MS = 100;
const LINE_INTERVAL_MS = 5_000;

const BAR_LENGTH = { min: 8, max: 30 };

/** Shows progress: a bar on a terminal, a line every few seconds elsewhere. */
export class Progress implements Disposable {
  readonly #terminal: Terminal;
  readonly #unit: string;
  readonly #getState: () => ProgressState;
  readonly #started = performance.now();
  #shownAt = performance.now();
  #isShown = false;

  /** @param unit the plural of an item, such as `rows` */
  constructor(unit: string, getState: () => ProgressState, terminal: Terminal = process.stderr) {
    this.#terminal = terminal;
    this.#unit = unit;
    this.#getState = getState;
  }

  /** Shows the state if the interval has passed. Call it often. */
  update(): void {
    const now = performance.now();
    if (now - this.#shownAt < (this.#terminal.isTTY ? BAR_INTERVAL_MS : LINE_INTERVAL_MS)) return;
    this.#shownAt = now;
    const state = this.#getState();
    const description = describe(state, (now - this.#started) / 1_000, this.#unit);
    if (!this.#terminal.isTTY) {
      this.#terminal.write(`${description}\n`);
      return;
    }
    this[Symbol.dispose]();
    this.#terminal.write(draw(description, state.fraction, this.#terminal.columns || 80));
    this.#isShown = true;
  }

  /** Prints a line above the bar. */
  print(line: string): void {
    this[Symbol.dispose]();
    this.#terminal.write(`${line}\n`);
  }

  /** Removes the bar. */
  [Symbol.dispose](): void {
    if (!this.#isShown) return;
    this.#isShown = false;
    cursorTo(this.#terminal, 0);
    clearLine(this.#terminal, 0);
  }
}

/** A bar and its description, shorter than `columns`. */
function draw(description: string, fraction: number | undefined, columns: number): string {
  const length = Math.min(BAR_LENGTH.max, columns - description.length - 2);
  if (fraction === undefined || length < BAR_LENGTH.min) return description.slice(0, columns - 1);
  const full = Math.round(fraction * length);
  return `${'█'.repeat(full)}${'░'.repeat(length - full)} ${description}`;
}

/** Such as `45 %, 450,000 rows, 85,000/s, 6 s left`. */
function describe({ count, fraction }: ProgressState, seconds: number, unit: string): string {
  const words: string[] = [];
  if (fraction) words.push(`${Math.floor(fraction * 100)} %`);
  if (count !== undefined) {
    const rate = Math.round(count / Math.max(seconds, 0.001));
    words.push(`${count.toLocaleString('en')} ${unit}`, `${rate.toLocaleString('en')}/s`);
  }
  if (fraction) words.push(`${formatDuration(Math.ceil((seconds / fraction) * (1 - fraction)))} left`);
  return words.join(', ');
}

function formatDuration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
