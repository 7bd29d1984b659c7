/** Waits for a promise until the signal is aborted. @throws the reason of the signal */
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
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  return abortable(elapsed, signal).finally(() => clearTimeout(timer));
}

/** Shares one run of `work` among concurrent callers, and aborts it when all of them have aborted. */
export function shareInFlight<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): (signal?: AbortSignal) => Promise<Result> {
  let current: { result: Promise<Result>; abortion: AbortController; callers: number } | undefined;
  return async (signal) => {
    signal?.throwIfAborted();
    if (!current) {
      const abortion = new AbortController();
      current = { result: work(abortion.signal), abortion, callers: 0 };
    }
    const joined = current;
    joined.callers++;
    try {
      return await abortable(joined.result, signal);
    } finally {
      joined.callers--;
      if (joined.callers === 0) {
        if (current === joined) current = undefined;
        joined.abortion.abort();
      }
    }
  };
}
