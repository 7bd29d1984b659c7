import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { formatMessage } from '../language/format.ts';
import { allTexts } from '../language/texts.ts';
import { formFieldsOf, yearOf } from '../state/fields.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { BookField } from './book/book-field.tsx';
import { useApp } from './use-app.ts';

/** Sets the author or the year of the selected books. */
export function FieldDialog({ field }: { readonly field: 'author' | 'year' }) {
  const { dialogs, operations, selection } = useApp();
  const t = allTexts.value;
  const form = useRef<HTMLFormElement>(null);
  const draft = useSignal(formFieldsOf(undefined));
  const heading = formatMessage(t[field === 'author' ? 'setAuthorOf' : 'setYearOf'], {
    count: selection.count.value,
  });
  const close = () => dialogs.close();

  function submit(event: Event): void {
    event.preventDefault();
    const year = yearOf(draft.value);
    if (year === undefined) {
      form.current?.querySelector('input')?.focus();
      return;
    }
    close();
    const change = field === 'author' ? { author: draft.value.author } : { year };
    void operations.runSelected('edited', (book) => ({ ...book, ...change }));
  }

  return (
    <Dialog label={heading} onDismiss={close}>
      <form ref={form} class="book-form" onSubmit={submit}>
        <h2>{heading}</h2>
        <BookField
          name={field}
          draft={draft}
          {...(field === 'author' && { hint: t.emptyAuthorHint })}
          submit={submit}
        />
        <div class="buttons">
          <Button text={t.cancel} onClick={close} />
          <Button text={t.save} variant="primary" type="submit" />
        </div>
      </form>
    </Dialog>
  );
}
