import { signal } from '@preact/signals';
import { texts } from '../language/texts.ts';

/** A notification at the lower edge of the page. Its texts are functions, as the language may change. */
export interface Toast {
  readonly text: () => string;
  /** Called by a button, and by Ctrl+Z. */
  readonly undo?: () => void;
  readonly action?: { readonly label: () => string; readonly run: () => void };
}

const toasts = signal<readonly Toast[]>([]);

/** Whether the timeouts of the toasts are paused, as the pointer or the focus is in one of them. */
let isPaused = false;

const TICK_MS = 250;

/** Shows a toast. @returns a function that dismisses it */
export function showToast(toast: Toast): () => void {
  toasts.value = [...toasts.value, toast];
  return () => dismiss(toast);
}

/** Shows a toast for some time. */
export function showBriefly(toast: Toast, milliseconds = 6_000): void {
  setPausableTimeout(showToast(toast), milliseconds);
}

/** Like `setTimeout`, but pauses with the toasts. @returns a function that cancels it */
export function setPausableTimeout(work: () => void, milliseconds: number): () => void {
  let left = milliseconds;
  const timer = setInterval(() => {
    if (isPaused) return;
    left -= TICK_MS;
    if (left > 0) return;
    clearInterval(timer);
    work();
  }, TICK_MS);
  return () => clearInterval(timer);
}

/** Calls `undo` of the last toast that has it. @returns whether there was one */
export function undoLast(): boolean {
  const last = toasts.value.findLast(({ undo }) => undo);
  if (last) undoToast(last);
  return last !== undefined;
}

function undoToast(toast: Toast): void {
  isPaused = false;
  dismiss(toast);
  toast.undo?.();
}

function dismiss(toast: Toast): void {
  toasts.value = toasts.value.filter((other) => other !== toast);
  if (toasts.value.length === 0) isPaused = false;
}

/** The latest toast, which screen readers announce; older ones can still be undone. */
export function Toasts() {
  const latest = toasts.value.at(-1);
  return (
    <div
      class="toasts"
      role="status"
      aria-live="polite"
      onPointerEnter={pause}
      onPointerLeave={resume}
      onFocusIn={pause}
      onFocusOut={resume}
    >
      {latest && <ToastBox key={latest} toast={latest} />}
      <span class="visually-hidden">{toasts.value.length === 0 ? '' : texts.value.toastHint}</span>
    </div>
  );
}

function ToastBox({ toast }: { toast: Toast }) {
  const { text, undo, action } = toast;
  return (
    <div class="toast">
      <p>{text()}</p>
      {undo && <ToastButton text={texts.value.undo} run={() => undoToast(toast)} />}
      {action && <ToastButton text={action.label()} run={action.run} />}
    </div>
  );
}

function ToastButton({ text, run }: { text: string; run: () => void }) {
  const handle = () => {
    resume();
    run();
  };
  return (
    <button type="button" onClick={handle}>
      {text}
    </button>
  );
}

function pause(): void {
  isPaused = true;
}

function resume(): void {
  isPaused = false;
}
