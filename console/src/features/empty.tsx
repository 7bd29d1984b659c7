import { useEffect, useMemo, useRef } from 'preact/hooks';
import { formatMessage } from '../language/format.ts';
import { language } from '../language/language.ts';
import { allTexts } from '../language/texts.ts';
import { Explainer, type Explanation } from '../state/explanation.ts';
import { Button } from '../ui/button.tsx';
import { useApp } from './use-app.ts';

/** Shown instead of the table when there is no book to show. */
export function Empty() {
  const { address } = useApp();
  return address.isSearch.value ? <NothingFound /> : <NoBooks />;
}

function NothingFound() {
  const { address, list } = useApp();
  const t = allTexts.value;
  const explainer = useMemo(() => new Explainer(list, address), []);
  useEffect(() => explainer.close, []);
  const { value: explanation } = explainer.explanation;
  return (
    <div class="empty">
      <p class="lead">{t.nothingFound}</p>
      <p role="status">{explanation && explain(explanation)}</p>
      <p class="quiet">{t.nothingFoundHint}</p>
      <div class="buttons">
        {explanation && explanation.inOtherYears > 0 && (
          <Button
            text={t.searchAllYears}
            variant="primary"
            onClick={() => address.show({ from: undefined, to: undefined })}
          />
        )}
        <Button text={t.showAll} onClick={() => address.show({ q: '', from: undefined, to: undefined })} />
      </div>
    </div>
  );
}

function explain({ missingWords, inOtherYears }: Explanation): string {
  const t = allTexts.value;
  if (inOtherYears > 0) return formatMessage(t.inOtherYears, { count: inOtherYears });
  if (missingWords.length === 0) return t.wordsNotTogether;
  const or = new Intl.ListFormat(language.value, { type: 'disjunction' });
  return formatMessage(t.wordsNotFound, {
    words: or.format(missingWords.map((word) => formatMessage(t.quotedWord, { word }))),
  });
}

function NoBooks() {
  const { dialogs, session } = useApp();
  const t = allTexts.value;
  const buttons = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // There is no list to have it nor, after a sign-in, a book to search.
    if (document.activeElement?.matches('body, [data-unused]'))
      buttons.current?.querySelector('button')?.focus();
  }, []);
  if (session.isReadOnly.value) return <p class="empty lead">{t.noBooks}</p>;
  return (
    <div class="empty drop-zone">
      <p class="lead">{t.noBooks}</p>
      <p class="quiet">{t.noBooksHint}</p>
      <div ref={buttons} class="buttons">
        <Button text={t.importFile} onClick={() => dialogs.show({ kind: 'import', files: [] })} />
        <Button text={t.add} variant="primary" onClick={() => dialogs.show({ kind: 'book', id: 'new' })} />
      </div>
    </div>
  );
}
