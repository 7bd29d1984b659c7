import { useLayoutEffect } from 'preact/hooks';

/**
 * Adds listeners until the component is unmounted. They are there as soon as its elements are: `useEffect` adds them after the next frame,
 * and what the user does before is lost.
 *
 * @param add adds them with the signal that removes them
 */
export function useListeners(add: (signal: AbortSignal) => void): void {
  useLayoutEffect(() => {
    const mounted = new AbortController();
    add(mounted.signal);
    return () => mounted.abort();
  }, []);
}
