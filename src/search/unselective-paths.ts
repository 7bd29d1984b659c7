/** The time after which the candidates of a path are counted again, as they may have become few. */
const REMEMBERED_MS = 60_000;
const PATHS_MAX = 1_000;

/** Access paths that had too many candidates: finding that out again would take longer than the page itself. */
export class UnselectivePaths {
  readonly #foundMs = new Map<string, number>();

  has(path: string): boolean {
    const foundMs = this.#foundMs.get(path);
    return foundMs !== undefined && performance.now() - foundMs < REMEMBERED_MS;
  }

  add(path: string): void {
    if (this.#foundMs.size >= PATHS_MAX) this.#foundMs.clear();
    this.#foundMs.set(path, performance.now());
  }
}
