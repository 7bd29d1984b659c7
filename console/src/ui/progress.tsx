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
    <div class="step">
      <progress value={max ? value : undefined} max={max || 1} aria-label={label} />
      <p class="quiet">{numbers}</p>
      <p class={isProminent ? 'note' : 'quiet'} role="status">
        {status}
      </p>
    </div>
  );
}
