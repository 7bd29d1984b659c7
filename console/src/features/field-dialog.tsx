import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { formatMessage } from '../language/format.ts';
import { allTexts } from '../language/texts.ts';
import { formFieldsOf, yearOf } from '../state/fields.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { BookField } from './book/book-field.tsx';
import { useApp } from './use-app.ts';

/** Sets the author or the year of the selected books, or empties it. */
export function FieldDialog({ field }: { readonly field: 'author' | 'year' }) {
  const { dialogs, operations, selection } = useApp();
  const t = allTexts.value;
  const form = useRef<HTMLFormElement>(null);
  const draft = useSignal(formFieldsOf(undefined));
  const [setOf, emptyOf] =
    field === 'author' ? [t.setAuthorOf, t.emptyAuthorOf] : [t.setYearOf, t.emptyYearOf];
  const withCount = (text: string) => formatMessage(text, { count: selection.count.value });
  const year = yearOf(draft.value);
  const canSave = draft.value[field].trim() !== '' && year !== undefined;
  const close = () => dialogs.close();

  function set(change: { author: string } | { year: number }): void {
    close();
    void operations.runSelected('edited', (book) => ({ ...book, ...change }));
  }

  function submit(event: Event): void {
    event.preventDefault();
    if (canSave) set(field === 'author' ? { author: draft.value.author } : { year });
    else form.current?.querySelector('input')?.focus();
  }

  return (
    <Dialog label={withCount(setOf)} onDismiss={close}>
      <form ref={form} class="book-form" onSubmit={submit}>
        <h2>{withCount(setOf)}</h2>
        <BookField name={field} draft={draft} submit={submit} />
        <div class="buttons">
          <Button
            text={withCount(emptyOf)}
            variant="ghost first danger"
            onClick={() => set(field === 'author' ? { author: '' } : { year: 0 })}
          />
          <Button text={t.cancel} onClick={close} />
          <Button text={t.save} variant="primary" type="submit" aria-disabled={!canSave} />
        </div>
      </form>
    </Dialog>
  );
}
