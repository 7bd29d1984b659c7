import { signal } from '@preact/signals';
import { texts } from '../language/language.ts';

/** Something that has happened, told at the lower edge for a while. */
export interface Toast {
  readonly key: number;
  /** Made anew when the language changes. */
  readonly text: () => string;
  readonly isFault?: boolean;
  /** Takes back what has happened: a button, and Ctrl+Z. */
  readonly undo?: () => void;
  readonly action?: { readonly label: () => string; readonly run: () => void };
}

const toasts = signal<readonly Toast[]>([]);

/** Whether somebody points at one or has the focus in one: then all of them stay, and what waits for their end waits. */
export const isHeld = signal(false);

let lastKey = 0;

/** Tells something. @returns takes it away again */
export function tell(toast: Omit<Toast, 'key'>): () => void {
  const key = ++lastKey;
  toasts.value = [...toasts.value, { ...toast, key }];
  return () => dismiss(key);
}

function dismiss(key: number): void {
  toasts.value = toasts.value.filter((other) => other.key !== key);
  if (toasts.value.length === 0) isHeld.value = false;
}

/** Takes back what happened last, as long as its toast is there. @returns whether there was anything */
export function undoLast(): boolean {
  const last = toasts.value.findLast(({ undo }) => undo);
  if (last) undoToast(last);
  return last !== undefined;
}

function undoToast({ key, undo }: Toast): void {
  letGo();
  dismiss(key);
  undo?.();
}

/** Tells something for some seconds, longer where somebody points at it. */
export function tellForAWhile(toast: Omit<Toast, 'key'>, milliseconds = 6_000): void {
  after(milliseconds, tell(toast));
}

/** Does something after a time in which nobody held the toasts. @returns does it no more */
export function after(milliseconds: number, work: () => void): () => void {
  let left = milliseconds;
  const timer = setInterval(() => {
    if (isHeld.value) return;
    left -= TICK_MS;
    if (left > 0) return;
    clearInterval(timer);
    work();
  }, TICK_MS);
  return () => clearInterval(timer);
}

const TICK_MS = 250;
/** The most that are shown; the others are still to be undone. */
const TOASTS_MAX = 4;

/** The toasts, which screen readers read out as they come. */
export function Toasts() {
  return (
    <div
      class="toasts"
      role="status"
      aria-live="polite"
      onPointerEnter={hold}
      onPointerLeave={letGo}
      onFocusIn={hold}
      onFocusOut={letGo}
    >
      {toasts.value.slice(-TOASTS_MAX).map((toast) => (
        <ToastBox key={toast.key} toast={toast} />
      ))}
      <span class="unseen">{toasts.value.length === 0 ? '' : texts.value.toastHint}</span>
    </div>
  );
}

function ToastBox({ toast }: { toast: Toast }) {
  const { isFault, text, undo, action } = toast;
  return (
    <div class={isFault ? 'toast fault-toast' : 'toast'}>
      <p>{text()}</p>
      {undo && (
        <button type="button" onClick={() => undoToast(toast)}>
          {texts.value.undo}
        </button>
      )}
      {action && (
        <button
          type="button"
          onClick={() => {
            letGo();
            action.run();
          }}
        >
          {action.label()}
        </button>
      )}
    </div>
  );
}

function hold(): void {
  isHeld.value = true;
}

function letGo(): void {
  isHeld.value = false;
}
