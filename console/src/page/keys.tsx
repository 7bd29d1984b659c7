import { signal } from '@preact/signals';
import { texts } from '../language/language.ts';
import { Dialog } from './dialog.tsx';

/** Whether the keys are shown. */
export const areKeysShown = signal(false);

/** What the keys of the page do. */
export function Keys() {
  const t = texts.value;
  if (!areKeysShown.value) return null;
  return (
    <Dialog label={t.keys} onDismiss={hide}>
      <h2>{t.keys}</h2>
      <dl class="keys">
        {Object.entries(t.keysOf).map(([key, meaning]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <div class="buttons">
        <button type="button" class="button" onClick={hide}>
          {t.close}
        </button>
      </div>
    </Dialog>
  );
}

function hide(): void {
  areKeysShown.value = false;
}
