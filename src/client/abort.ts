/** Waits for what is under way, which goes on. @throws the reason of the signal as soon as it is aborted */
export function unlessAborted<Result>(work: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Waits for a time. @throws the reason of the signal as soon as it is aborted */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    await unlessAborted(waited, signal);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Makes of some work one that is done once for all who want it at the same time. None of them can abort it for the
 * others; when the last has left, it is aborted.
 *
 * @returns a function that throws what the work throws, and the reason of the caller's own signal
 */
export function sharing<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): (signal?: AbortSignal) => Promise<Result> {
  let current:
    | { readonly result: Promise<Result>; readonly abortion: AbortController; waiting: number }
    | undefined;
  return async (signal) => {
    signal?.throwIfAborted();
    if (!current) {
      const abortion = new AbortController();
      current = { result: work(abortion.signal), abortion, waiting: 0 };
    }
    const joined = current;
    joined.waiting++;
    try {
      return await unlessAborted(joined.result, signal);
    } finally {
      joined.waiting--;
      if (joined.waiting === 0) {
        if (current === joined) current = undefined;
        joined.abortion.abort();
      }
    }
  };
}
