import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { loadWithTexts, texts } from '../language/texts.ts';
import { showBriefly } from './toasts.tsx';

const RETRY_MS = 5_000;

/**
 * The module that `load` imports, once it is needed and loaded.
 *
 * @param onFailure withdraws what the user has asked for; without it, the module is loaded again later
 */
export function useModule<Module>(
  isNeeded: boolean,
  load: () => Promise<Module>,
  onFailure?: () => void,
): Module | undefined {
  const module = useSignal<Module | undefined>(undefined);
  const attempts = useSignal(0);
  useEffect(() => {
    if (!isNeeded || module.value) return;
    // Browsers do not load a module again that they could not load once.
    fetch('.', { method: 'HEAD' })
      .then(() => loadWithTexts(load))
      .then(
        (loaded) => {
          module.value = loaded;
        },
        () => {
          if (!onFailure) setTimeout(() => attempts.value++, RETRY_MS);
          else {
            onFailure();
            showBriefly({ text: () => texts.value.signInErrors.unreachable });
          }
        },
      );
  }, [isNeeded, attempts.value]);
  return module.value;
}
