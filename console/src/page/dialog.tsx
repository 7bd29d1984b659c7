import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** What a dialog is made of. */
export interface DialogParts {
  /** Its name for those who do not see it. */
  readonly label: string;
  /** Done when somebody wants to leave: Esc, or a click beside it. When undefined, there is no such way out. */
  readonly onDismiss: (() => void) | undefined;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A modal dialog, open as long as it is there. The focus returns to where it came from. */
export function Dialog({ label, onDismiss, class: name = '', children }: DialogParts) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    element?.querySelector<HTMLElement>('[autofocus]')?.focus();
    return () => {
      element?.close();
      // A browser returns the focus by itself only from a dialog that is still there.
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
      // Browsers let the second Esc close a dialog whatever the page says.
      onClose={({ currentTarget }) =>
        currentTarget.isConnected && onDismiss === undefined && currentTarget.showModal()
      }
      onPointerDown={(event) => event.target === event.currentTarget && onDismiss?.()}
    >
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

/** To where it was or, where that is gone, to the books; another dialog may have it by now. */
function returnFocus(before: Element | null): void {
  if (document.activeElement !== document.body) return;
  const place = before?.isConnected ? before : document.querySelector('#books [tabindex="0"]');
  if (place instanceof HTMLElement) place.focus({ preventScroll: true });
}
