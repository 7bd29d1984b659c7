import { signal } from '@preact/signals';

/** A notification at the lower edge of the page. Its texts are functions, as the language may change. */
export interface Toast {
  readonly text: () => string;
  /** Stays until it is closed; the others disappear by themselves. */
  readonly isError?: boolean;
  readonly actions?: readonly {
    readonly label: () => string;
    readonly run: () => void;
    /** Whether a click leaves the focus where it is, such as in a cell that is being edited, which would be saved otherwise. */
    readonly keepsFocus?: boolean;
  }[];
}

/** The notification that is shown. */
export class Toasts {
  readonly shown = signal<Toast | undefined>(undefined);

  show(toast: Toast | undefined): void {
    this.shown.value = toast;
  }
}
