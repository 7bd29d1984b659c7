import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { loadWithTexts, texts } from '../language/texts.ts';
import { showBriefly } from './toasts.tsx';

/** The module that `load` imports, once it is needed and loaded. */
export function useModule<Module>(
  isNeeded: boolean,
  load: () => Promise<Module>,
  onFailure: () => void,
): Module | undefined {
  const module = useSignal<Module | undefined>(undefined);
  useEffect(() => {
    if (!isNeeded || module.value) return;
    loadWithTexts(load).then(
      (loaded) => {
        module.value = loaded;
      },
      () => {
        onFailure();
        showBriefly({ text: () => texts.value.signInErrors.unreachable });
      },
    );
  }, [isNeeded]);
  return module.value;
}
