import { useEffect, useRef } from 'preact/hooks';

/** The heading of a step of a dialog. It gets the focus, as the focused control of the last step no longer exists. */
export function StepHeading({ text, note }: { text: string; note?: string | undefined }) {
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

interface ProgressProps {
  readonly label: string;
  readonly value: number;
  readonly max: number | undefined;
  /** Changes continuously; screen readers do not announce it. */
  readonly numbers: string | undefined;
  /** Announced by screen readers. */
  readonly status: string;
  readonly isProminent?: boolean;
}

/** The progress of an import, an undo or an export. */
export function Progress({ label, value, max, numbers, status, isProminent }: ProgressProps) {
  return (
    <div class="progress">
      <progress value={max ? value : undefined} max={max || 1} aria-label={label} />
      <p class="numbers">{numbers}</p>
      <p class={isProminent ? 'note' : 'quiet'} role="status">
        {status}
      </p>
    </div>
  );
}
