import { allTexts, explain } from '../../language/texts.ts';
import type { ChangeList } from '../../state/change-list.ts';
import { Button } from '../../ui/button.tsx';

/** What follows the loaded changes: a button for more, or why there are none. @param none the text for an empty list */
export function ChangeListEnd({ list, none }: { list: ChangeList; none: string }) {
  const t = allTexts.value;
  const { value: state } = list.state;
  const isEmpty = list.changes.value.length === 0;
  return (
    <div class="change-list-end" role="status">
      {state === 'loading' && <p class="quiet">{t.loading}</p>}
      {state === 'complete' && isEmpty && <p class="quiet">{none}</p>}
      {state === 'more' && <Button text={t.showMore} onClick={() => void list.more()} />}
      {state === 'failed' && (
        <>
          <p class="error">{explain(list.error.value)}</p>
          <Button text={t.tryAgain} onClick={() => void list.load()} />
        </>
      )}
    </div>
  );
}
