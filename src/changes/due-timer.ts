/** Calls a function once, at the earliest of the times that were requested: after `callIn(250)`, then `callIn(10)`, in 10 ms. */
export class DueTimer {
  readonly #call: () => void;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(call: () => void) {
    this.#call = call;
  }

  callIn(ms: number): void {
    const dueAt = performance.now() + ms;
    if (this.#isClosed || dueAt >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => {
      this.#dueAt = Number.POSITIVE_INFINITY;
      this.#call();
    }, ms).unref();
  }

  cancel(): void {
    clearTimeout(this.#timer);
    this.#dueAt = Number.POSITIVE_INFINITY;
  }

  /** Cancels it for good. */
  close(): void {
    this.cancel();
    this.#isClosed = true;
  }
}
