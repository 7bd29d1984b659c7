import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { formatMessage } from '../language/format.ts';
import { texts } from '../language/texts.ts';

interface DialogProps {
  readonly label: string;
  /** Called for Esc and a click beside the dialog. When undefined, both are ignored. */
  readonly onDismiss: (() => void) | undefined;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A modal dialog, open as long as it is mounted. The focus returns to the element that had it. */
export function Dialog({ label, onDismiss, class: name = '', children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the effects of its content, which may move the focus.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const returnCaret = keepCaret(before);
    const element = dialog.current;
    element?.showModal();
    element?.querySelector<HTMLElement>('[autofocus]')?.focus();
    return () => {
      element?.close();
      returnCaret();
      // Browsers return the focus only from a mounted dialog.
      setTimeout(() => returnFocus(before));
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`dialog ${name}`}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        onDismiss?.();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && onDismiss === undefined) event.preventDefault();
      }}
      // In browsers, a second Esc closes any dialog.
      onClose={({ currentTarget }) => currentTarget.isConnected && currentTarget.showModal()}
      // Not for the second click of a double click, whose first one has opened the dialog.
      onMouseDown={(event) => event.target === event.currentTarget && event.detail < 2 && onDismiss?.()}
    >
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

interface StepHeadingProps {
  readonly text: string;
  /** The number of the book that the step is about. */
  readonly id?: number | undefined;
  readonly note?: string | undefined;
}

/** The heading of a step of a dialog. It gets the focus, as the focused control of the last step no longer exists. */
export function StepHeading({ text, id, note }: StepHeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // A form has moved it to a field already.
    if (!heading.current?.closest('form')?.querySelector('[name]:focus')) heading.current?.focus();
  }, []);
  return (
    <div class="step">
      <h2 ref={heading} tabIndex={-1}>
        {text}
        {id !== undefined && (
          <span class="quiet"> {formatMessage(texts.value.number, { id: String(id) })}</span>
        )}
      </h2>
      {note !== undefined && (
        <p class="quiet" dir="auto">
          {note}
        </p>
      )}
    </div>
  );
}

/**
 * Keeps the caret of a text field.
 *
 * @returns a function that returns it when the field has the focus again, which Chromium returns alone: typed letters would be lost
 */
function keepCaret(field: Element | null): () => void {
  const isField = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement;
  if (!isField || field.selectionStart === null) return () => {};
  const { selectionStart, selectionEnd } = field;
  return () => {
    if (field === document.activeElement) field.setSelectionRange(selectionStart, selectionEnd);
  };
}

/** Returns the focus to the element that had it, or to the books, unless another element has it. */
export function returnFocus(before: Element | null): void {
  if (document.activeElement !== document.body) return;
  // An entry of the menu is no longer displayed.
  if (before instanceof HTMLElement && before.checkVisibility()) before.focus({ preventScroll: true });
  if (document.activeElement === document.body) focusBooks({ preventScroll: true });
}

/**
 * Moves the focus, which was on a control that has disappeared, to the next one of a dialog: in an element or behind it; to the first one
 * if the element has disappeared, too.
 */
export function focusNext(element: Element | null | undefined): void {
  if (!element || document.activeElement !== document.body) return;
  const controls = document.querySelectorAll<HTMLElement>('dialog[open] :is(button, summary)');
  const isBehind = (control: Element) =>
    !element.isConnected || element.compareDocumentPosition(control) & Node.DOCUMENT_POSITION_FOLLOWING;
  [...controls].find((control) => control.checkVisibility() && isBehind(control))?.focus();
}

/** Moves the focus to the table, whose last focused cell or its editor gets it. */
export function focusBooks(options?: FocusOptions): void {
  document.querySelector<HTMLElement>('.rows :is([tabindex="0"], .cell-editor)')?.focus(options);
}
