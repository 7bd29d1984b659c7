import { effect, signal } from '@preact/signals';
import { isLoading } from '../catalogue/catalogue.ts';
import { loadWithTexts } from '../language/texts.ts';
import { signInState } from '../session/session.ts';

/** Whether the service records the history of its books; false until that is known. */
export const hasHistory = signal(false);

let isAsked = false;

// Asks after the first books are shown, and once, as a restart of the service is needed to change it.
effect(() => {
  if (isAsked || signInState.value !== 'in' || isLoading.value) return;
  isAsked = true;
  void start();
});

async function start(): Promise<void> {
  try {
    const response = await fetch(new URL('features.json', document.baseURI));
    const { history } = (await response.json()) as { history: boolean };
    if (!history) return;
    hasHistory.value = true;
    const { followWhileVisible } = await loadWithTexts(() => import('./follow.ts'));
    followWhileVisible();
  } catch {
    // Asks again after the next books that are loaded.
    isAsked = false;
  }
}
