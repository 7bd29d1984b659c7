import { clearLine, cursorTo } from 'node:readline';

/** Where people look on: standard error, usually. */
type Screen = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

/** How far something has come. */
export interface Standing {
  /** How many have been done so far; undefined where nothing is counted. */
  readonly count: number | undefined;
  /** From 0 to 1; undefined where nobody knows. */
  readonly part: number | undefined;
}

/** How often a bar is drawn anew, and how often a line is printed where there is no terminal. */
const BAR_MS = 100;
const LINE_MS = 5_000;

const BAR_LENGTH = { min: 8, max: 30 };

/** Shows how something goes on: a bar on a terminal, a line every few seconds elsewhere. Disposing takes the bar away. */
export class Progress implements Disposable {
  readonly #screen: Screen;
  readonly #unit: string;
  readonly #look: () => Standing;
  readonly #started = performance.now();
  #shownAt = performance.now();
  #isShown = false;

  /** @param unit what is counted, such as `rows` */
  constructor(unit: string, look: () => Standing, screen: Screen = process.stderr) {
    this.#screen = screen;
    this.#unit = unit;
    this.#look = look;
  }

  /** Shows the standing when it is time to. To be called often. */
  update(): void {
    const now = performance.now();
    if (now - this.#shownAt < (this.#screen.isTTY ? BAR_MS : LINE_MS)) return;
    this.#shownAt = now;
    const standing = this.#look();
    const seconds = (now - this.#started) / 1_000;
    if (!this.#screen.isTTY) {
      this.#screen.write(`${describe(standing, seconds, this.#unit)}\n`);
      return;
    }
    this.#clear();
    this.#screen.write(draw(standing, seconds, this.#unit, this.#screen.columns || 80));
    this.#isShown = true;
  }

  /** Prints a line, above the bar where there is one. */
  print(line: string): void {
    this.#clear();
    this.#screen.write(`${line}\n`);
  }

  [Symbol.dispose](): void {
    this.#clear();
  }

  #clear(): void {
    if (!this.#isShown) return;
    this.#isShown = false;
    cursorTo(this.#screen, 0);
    clearLine(this.#screen, 0);
  }
}

/** A bar with words, shorter than a line of so many columns. */
function draw(standing: Standing, seconds: number, unit: string, columns: number): string {
  const words = describe(standing, seconds, unit);
  const length = Math.min(BAR_LENGTH.max, columns - words.length - 2);
  if (standing.part === undefined || length < BAR_LENGTH.min) return words.slice(0, columns - 1);
  const full = Math.round(standing.part * length);
  return `${'█'.repeat(full)}${'░'.repeat(length - full)} ${words}`;
}

/** Such as `45 %, 450,000 rows, 85,000/s, 6 s left`. */
function describe({ count, part }: Standing, seconds: number, unit: string): string {
  const words: string[] = [];
  if (part) words.push(`${Math.floor(part * 100)} %`);
  if (count !== undefined) {
    const rate = Math.round(count / Math.max(seconds, 0.001));
    words.push(`${count.toLocaleString('en')} ${unit}`, `${rate.toLocaleString('en')}/s`);
  }
  if (part) words.push(`${inWords(Math.ceil((seconds / part) * (1 - part)))} left`);
  return words.join(', ');
}

function inWords(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
