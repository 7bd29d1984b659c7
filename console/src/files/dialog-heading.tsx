import { useEffect, useRef } from 'preact/hooks';

/**
 * The heading of a step of a dialog. It takes the focus when the step begins, as what had it is gone: who listens hears what
 * it is about, and the next key leads to its first control.
 */
export function DialogHeading({ text, note }: { text: string; note?: string | undefined }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <header class="step">
      <h2 ref={heading} tabIndex={-1}>
        {text}
      </h2>
      {note !== undefined && (
        <p class="quiet" dir="auto">
          {note}
        </p>
      )}
    </header>
  );
}
