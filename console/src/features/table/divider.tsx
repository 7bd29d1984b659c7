import type { TargetedPointerEvent } from 'preact';
import { allTexts } from '../../language/texts.ts';
import { useApp } from '../use-app.ts';

/** The border between the columns of titles and authors, which is dragged or moved by the arrow keys. */
export function Divider() {
  const { titleShare } = useApp().preferences;
  const set = (share: number) => (titleShare.value = Math.round(Math.min(Math.max(share, 20), 80)));
  function drag({ currentTarget, clientX, buttons }: TargetedPointerEvent<HTMLElement>): void {
    const [, , title, author] = [...(currentTarget.closest('.row')?.children ?? [])].map((cell) =>
      cell.getBoundingClientRect(),
    );
    if (buttons !== 1 || !title || !author) return;
    const [from, to] = [Math.min(title.left, author.left), Math.max(title.right, author.right)];
    const share = (100 * (clientX - from)) / (to - from);
    set(document.dir === 'rtl' ? 100 - share : share);
  }
  return (
    <span
      class="divider"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={allTexts.value.titleWidth}
      aria-valuenow={titleShare.value}
      aria-valuemin={20}
      aria-valuemax={80}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onPointerMove={drag}
      onKeyDown={({ key }) => {
        if (key === 'ArrowLeft' || key === 'ArrowRight')
          set(titleShare.value + ((key === 'ArrowRight') === (document.dir !== 'rtl') ? 2 : -2));
      }}
    />
  );
}
