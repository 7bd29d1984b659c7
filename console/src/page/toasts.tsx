import { signal } from '@preact/signals';
import { texts } from '../language/texts.ts';

/** A notification at the lower edge of the page. Its texts are functions, as the language may change. */
export interface Toast {
  readonly text: () => string;
  readonly isFault?: boolean;
  /** Reverts what has happened: by a button, and by Ctrl+Z. */
  readonly undo?: () => void;
  readonly action?: { readonly label: () => string; readonly run: () => void };
}

const toasts = signal<readonly Toast[]>([]);

/** Whether the pointer or the focus is in the toasts: all of them stay meanwhile, and their timeouts pause. */
let isHeld = false;

const TICK_MS = 250;
/** How many toasts are visible; older ones can still be undone. */
const VISIBLE_MAX = 4;

/** Shows a toast. @returns dismisses it */
export function showToast(toast: Toast): () => void {
  toasts.value = [...toasts.value, toast];
  return () => dismiss(toast);
}

/** Shows a toast for some time. */
export function showBriefly(toast: Toast, milliseconds = 6_000): void {
  setPausableTimeout(showToast(toast), milliseconds);
}

/** Like `setTimeout`, but pauses while the toasts are held. @returns cancels it */
export function setPausableTimeout(work: () => void, milliseconds: number): () => void {
  let left = milliseconds;
  const timer = setInterval(() => {
    if (isHeld) return;
    left -= TICK_MS;
    if (left > 0) return;
    clearInterval(timer);
    work();
  }, TICK_MS);
  return () => clearInterval(timer);
}

/** Undoes what the last undoable toast reports. @returns whether there was one */
export function undoLast(): boolean {
  const last = toasts.value.findLast(({ undo }) => undo);
  if (last) undoToast(last);
  return last !== undefined;
}

function undoToast(toast: Toast): void {
  isHeld = false;
  dismiss(toast);
  toast.undo?.();
}

function dismiss(toast: Toast): void {
  toasts.value = toasts.value.filter((other) => other !== toast);
  if (toasts.value.length === 0) isHeld = false;
}

/** The toasts, which screen readers read out as they appear. */
export function Toasts() {
  return (
    <div
      class="toasts"
      role="status"
      aria-live="polite"
      onPointerEnter={hold}
      onPointerLeave={release}
      onFocusIn={hold}
      onFocusOut={release}
    >
      {toasts.value.slice(-VISIBLE_MAX).map((toast) => (
        <ToastBox key={toast} toast={toast} />
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
      {undo && <ToastButton text={texts.value.undo} run={() => undoToast(toast)} />}
      {action && <ToastButton text={action.label()} run={action.run} />}
    </div>
  );
}

function ToastButton({ text, run }: { text: string; run: () => void }) {
  const handle = () => {
    release();
    run();
  };
  return (
    <button type="button" onClick={handle}>
      {text}
    </button>
  );
}

function hold(): void {
  isHeld = true;
}

function release(): void {
  isHeld = false;
}
