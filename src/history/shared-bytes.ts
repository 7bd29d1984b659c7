import type { ServerResponse } from 'node:http';
import type { MemoryBudget } from '../http/body/memory-budget.ts';

/** Content that is being sent to one client. */
export interface HeldBytes {
  readonly bytes: Uint8Array;
  /** Called when it has been sent; the end of the response does so, too. */
  readonly release: () => void;
}

/** Content that is being sent to several clients: one buffer, which counts once in the memory budget. */
export class SharedBytes {
  readonly #budget: MemoryBudget;
  readonly #shared = new Map<string, { readonly bytes: Uint8Array; holders: number }>();

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  /**
   * Keeps content in memory for a response.
   *
   * @param key that of the same bytes
   * @param render makes the bytes, unless they are in memory
   * @returns undefined when the memory is exhausted, or the client has disconnected
   */
  hold(key: string, render: () => Uint8Array, response: ServerResponse): HeldBytes | undefined {
    const shared = response.closed ? undefined : (this.#shared.get(key) ?? this.#add(key, render()));
    if (!shared) return undefined;
    shared.holders++;
    let isHeld = true;
    const release = () => {
      response.off('close', release);
      if (isHeld) this.#release(key);
      isHeld = false;
    };
    response.once('close', release);
    return { bytes: shared.bytes, release };
  }

  #add(key: string, bytes: Uint8Array) {
    if (this.#budget.bytesHeld + bytes.length > this.#budget.bytesMax) return undefined;
    this.#budget.bytesHeld += bytes.length;
    const shared = { bytes, holders: 0 };
    this.#shared.set(key, shared);
    return shared;
  }

  #release(key: string): void {
    const shared = this.#shared.get(key);
    if (!shared || --shared.holders > 0) return;
    this.#shared.delete(key);
    this.#budget.bytesHeld -= shared.bytes.length;
  }
}
