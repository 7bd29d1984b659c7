import { openImport } from '../files/opened-dialog.ts';
import { formatMessage } from '../language/format.ts';
import { language } from '../language/language.ts';
import { allTexts } from '../language/texts.ts';
import { show } from '../page/address.ts';
import { Button } from '../page/button.tsx';
import { explanation, isSearch } from './found-books.ts';

/** Shown instead of the table when there is no book to show. */
export function Empty() {
  return <div class="empty">{isSearch.value ? <NothingFound /> : <NoBooks />}</div>;
}

function NothingFound() {
  const t = allTexts.value;
  const inOtherYears = explanation.value?.inOtherYears ?? 0;
  return (
    <>
      <p class="lead">{t.nothingFound}</p>
      <p role="status">{explain()}</p>
      <p class="quiet">{t.nothingFoundHint}</p>
      <div class="buttons">
        {inOtherYears > 0 && (
          <Button
            text={t.searchAllYears}
            variant="primary"
            onClick={() => show({ from: undefined, to: undefined })}
          />
        )}
        <Button text={t.showAll} onClick={() => show({ q: '', from: undefined, to: undefined })} />
      </div>
    </>
  );
}

function explain(): string {
  const t = allTexts.value;
  if (!explanation.value) return '';
  const { missingWords, inOtherYears } = explanation.value;
  if (inOtherYears > 0) return formatMessage(t.inOtherYears, { count: inOtherYears });
  if (missingWords.length === 0) return t.wordsNotTogether;
  const or = new Intl.ListFormat(language.value, { type: 'disjunction' });
  return formatMessage(t.wordsNotFound, {
    words: or.format(missingWords.map((word) => formatMessage(t.quotedWord, { word }))),
  });
}

function NoBooks() {
  const t = allTexts.value;
  return (
    <>
      <p class="lead">{t.noBooks}</p>
      <p class="quiet">{t.noBooksHint}</p>
      <div class="buttons">
        <Button text={t.importFile} onClick={() => openImport()} />
        <Button text={t.importExample} onClick={() => void importExample()} />
        <Button text={t.add} variant="primary" onClick={() => show({ book: 'new' })} />
      </div>
    </>
  );
}

async function importExample(): Promise<void> {
  const { exampleFile } = await import('./example-file.ts');
  openImport([exampleFile()]);
}
