import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { formatMessage } from '../language/format.ts';
import { allTexts, formatYear } from '../language/texts.ts';
import { yearOf } from '../state/fields.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { AuthorSuggestions } from './author-suggestions.tsx';
import { useApp } from './use-app.ts';

/** Sets the author or the year of the selected books. */
export function FieldDialog({ field }: { readonly field: 'author' | 'year' }) {
  const { dialogs, operations, selection } = useApp();
  const t = allTexts.value;
  const input = useRef<HTMLInputElement>(null);
  const text = useSignal('');
  const year = yearOf({ title: '', author: '', year: text.value });
  const isInvalid = field === 'year' && year === undefined;
  const heading = formatMessage(t[field === 'author' ? 'setAuthorOf' : 'setYearOf'], {
    count: selection.count.value,
  });
  const close = () => dialogs.close();

  function submit(event: Event): void {
    event.preventDefault();
    if (isInvalid) {
      input.current?.focus();
      return;
    }
    close();
    const change = field === 'author' ? { author: text.value } : { year: year ?? 0 };
    void operations.runSelected('edited', (book) => ({ ...book, ...change }));
  }

  return (
    <Dialog label={heading} onDismiss={close}>
      <form class="book-form" onSubmit={submit}>
        <h2>{heading}</h2>
        <div class={`field ${field}`}>
          <label for="field">{t.columns[field]}</label>
          <input
            id="field"
            ref={input}
            autoFocus
            autocomplete="off"
            dir="auto"
            list={field === 'author' ? 'authors' : undefined}
            value={text.value}
            aria-invalid={isInvalid}
            aria-describedby="field-hint"
            onInput={({ currentTarget }) => {
              text.value = currentTarget.value;
            }}
          />
          {field === 'author' && <AuthorSuggestions id="authors" text={text.value} />}
          <p id="field-hint" class={isInvalid ? 'hint error' : 'hint'}>
            {field === 'author'
              ? t.emptyAuthorHint
              : isInvalid
                ? t.invalidYear
                : (year ?? 0) < 0
                  ? formatYear(year ?? 0)
                  : t.yearHint}
          </p>
        </div>
        <div class="buttons">
          <Button text={t.cancel} onClick={close} />
          <Button text={t.save} variant="primary" type="submit" />
        </div>
      </form>
    </Dialog>
  );
}
