import { useSignal } from '@preact/signals';
import { texts } from '../language/texts.ts';
import { LinkButton } from '../page/button.tsx';
import { Dialog } from '../page/dialog.tsx';
import { useModule } from '../page/use-module.ts';
import { hasHistory } from './history.ts';

/** A view of the history, in a dialog. Its code is loaded when it is first shown. */
export function HistoryView({
  id,
  onClose,
}: {
  readonly id: number | 'deleted';
  readonly onClose: (isRestored?: boolean) => void;
}) {
  const module = useModule(true, () => import('./views.ts'), onClose);
  if (!module) return <p class="quiet">{texts.value.loading}</p>;
  if (id === 'deleted') return <module.DeletedBooks onClose={() => onClose()} />;
  return <module.BookHistory id={id} onClose={onClose} />;
}

/** The link to the deleted books, and their dialog. */
export function RecentlyDeleted() {
  const isOpen = useSignal(false);
  const close = () => (isOpen.value = false);
  if (!hasHistory.value) return null;
  const { recentlyDeleted } = texts.value;
  return (
    <>
      <LinkButton text={recentlyDeleted} onClick={() => (isOpen.value = true)} />
      {isOpen.value && (
        <Dialog label={recentlyDeleted} onDismiss={close} class="wide">
          <HistoryView id="deleted" onClose={close} />
        </Dialog>
      )}
    </>
  );
}
