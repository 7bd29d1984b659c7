import { FIELDS, type Field } from 'bookkeeping-formats/row.ts';
import type { TargetedPointerEvent } from 'preact';
import { formatMessage } from '../../language/format.ts';
import { allTexts } from '../../language/texts.ts';
import { COLUMN_SHARES } from '../../state/preferences.ts';
import { useApp } from '../use-app.ts';

const SHARE_MIN = 4;

/** The border before a column, which is dragged or moved by the arrow keys. A double click or Enter restores all widths. */
export function Divider({ column }: { readonly column: Field }) {
  const { columnShares } = useApp().preferences;
  const { columns, columnWidth } = allTexts.value;
  const index = FIELDS.indexOf(column);
  const { [index - 1]: before = 0, [index]: after = 0 } = columnShares.value;
  const max = before + after - SHARE_MIN;
  const set = (share: number) => {
    const moved = Math.min(Math.max(share, SHARE_MIN), max);
    columnShares.value = columnShares.value.with(index - 1, moved).with(index, before + after - moved);
  };
  const reset = () => (columnShares.value = COLUMN_SHARES);
  function drag({ currentTarget, clientX, buttons }: TargetedPointerEvent<HTMLElement>): void {
    const cell = currentTarget.closest('.cell')?.getBoundingClientRect();
    const other = currentTarget.closest('.cell')?.previousElementSibling?.getBoundingClientRect();
    if (buttons !== 1 || !cell || !other) return;
    const [from, to] = [Math.min(cell.left, other.left), Math.max(cell.right, other.right)];
    const part = (clientX - from) / (to - from);
    set((before + after) * (document.dir === 'rtl' ? 1 - part : part));
  }
  return (
    <span
      class="divider"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={formatMessage(columnWidth, { column: columns[column] })}
      aria-valuenow={Math.round(before)}
      aria-valuemin={SHARE_MIN}
      aria-valuemax={Math.round(max)}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onPointerMove={drag}
      onDblClick={reset}
      onKeyDown={({ key }) => {
        if (key === 'ArrowLeft' || key === 'ArrowRight')
          set(before + ((key === 'ArrowRight') === (document.dir !== 'rtl') ? 1 : -1));
        else if (key === 'Enter') reset();
      }}
    />
  );
}
