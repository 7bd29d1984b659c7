import { signal } from '@preact/signals';

/** A notification at the lower edge of the page. Its texts are functions, as the language may change. */
export interface Toast {
  readonly text: () => string;
  /** Stays until it is closed. */
  readonly isError?: boolean;
  readonly actions?: readonly { readonly label: () => string; readonly run: () => void }[];
}

const TICK_MS = 250;
const SHOWN_MS = 8_000;

/** The notification that is shown. If it is no error, it disappears by itself, but not while the pointer or the focus is in it. */
export class Toasts {
  readonly shown = signal<Toast | undefined>(undefined);
  isPaused = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  show(toast: Toast | undefined): void {
    clearInterval(this.#timer);
    this.isPaused = false;
    this.shown.value = toast;
    let left = SHOWN_MS;
    if (!toast || toast.isError) return;
    this.#timer = setInterval(() => {
      if (this.isPaused) return;
      left -= TICK_MS;
      if (left <= 0) this.show(undefined);
    }, TICK_MS);
  }
}
