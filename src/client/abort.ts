/** Waits for a promise, and stops waiting when the signal is aborted. @throws the reason of the signal */
export function abortable<Result>(work: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** @throws the reason of the signal as soon as it is aborted */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    await abortable(waited, signal);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Shares one run of `work` among concurrent callers. It is aborted when all callers have aborted.
 *
 * @returns a function that throws the errors of `work`, and the reason of the caller's signal
 */
export function shareInFlight<Result>(
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
      return await abortable(joined.result, signal);
    } finally {
      joined.waiting--;
      if (joined.waiting === 0) {
        if (current === joined) current = undefined;
        joined.abortion.abort();
      }
    }
  };
}
