import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { formatYear } from '../book/book-text.tsx';
import { yearOf } from '../book/fields.ts';
import { formatMessage } from '../language/format.ts';
import { allTexts } from '../language/texts.ts';
import { Button } from '../page/button.tsx';
import { Dialog } from '../page/dialog.tsx';
import { changeSelected } from './commands.ts';
import { selectedCount } from './selection.ts';

interface FieldDialogProps {
  readonly field: 'author' | 'year';
  readonly onClose: () => void;
}

/** Sets the author or the year of the selected books. */
export function FieldDialog({ field, onClose }: FieldDialogProps) {
  const t = allTexts.value;
  const input = useRef<HTMLInputElement>(null);
  const text = useSignal('');
  const year = yearOf({ title: '', author: '', year: text.value });
  const isInvalid = field === 'year' && year === undefined;
  const heading = formatMessage(t[field === 'author' ? 'setAuthorOf' : 'setYearOf'], {
    count: selectedCount.value,
  });

  function submit(event: Event): void {
    event.preventDefault();
    if (isInvalid) input.current?.focus();
    else {
      onClose();
      void changeSelected(field === 'author' ? { author: text.value } : { year: year ?? 0 });
    }
  }

  return (
    <Dialog label={heading} onDismiss={onClose}>
      <form class="book-form" onSubmit={submit}>
        <h2>{heading}</h2>
        <label class={`field ${field}`}>
          <span>{t.columns[field]}</span>
          <input
            ref={input}
            autoFocus
            autocomplete="off"
            dir="auto"
            value={text.value}
            placeholder={field === 'year' ? '0' : undefined}
            aria-invalid={isInvalid}
            aria-describedby="field-hint"
            onInput={({ currentTarget }) => {
              text.value = currentTarget.value;
            }}
          />
        </label>
        <p id="field-hint" class={isInvalid ? 'hint error' : 'hint'}>
          {field === 'author'
            ? t.emptyAuthorHint
            : isInvalid
              ? t.invalidYear
              : (year ?? 0) < 0
                ? formatYear(year ?? 0)
                : t.yearHint}
        </p>
        <div class="buttons">
          <Button text={t.cancel} onClick={onClose} />
          <Button text={t.save} variant="primary" type="submit" />
        </div>
      </form>
    </Dialog>
  );
}
