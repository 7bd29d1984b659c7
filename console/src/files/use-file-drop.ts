import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isBusy, opened, openImport } from './opened-dialog.ts';

/**
 * Lets people drop a file anywhere on the page to import it. Where that is not possible just now, it is not opened either,
 * as browsers would do in place of the page.
 *
 * @returns whether a file is being dragged over the page that may be dropped
 */
export function useFileDrop(): Signal<boolean> {
  const isOver = useSignal(false);
  useEffect(() => {
    const abortion = new AbortController();
    const { signal } = abortion;
    addEventListener(
      'dragover',
      (event) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        isOver.value = canTake();
        event.dataTransfer.dropEffect = isOver.value ? 'copy' : 'none';
      },
      { signal },
    );
    addEventListener(
      'dragleave',
      ({ relatedTarget }) => {
        if (!relatedTarget) isOver.value = false;
      },
      { signal },
    );
    addEventListener(
      'drop',
      (event) => {
        isOver.value = false;
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        if (canTake()) openImport([...event.dataTransfer.files]);
      },
      { signal },
    );
    return () => abortion.abort();
  }, []);
  return isOver;
}

/** Not in the middle of something else. */
function canTake(): boolean {
  if (opened.value?.kind === 'import') return !isBusy.value;
  return document.querySelector('dialog[open]') === null;
}
