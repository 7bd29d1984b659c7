import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Book } from '../../../src/client/index.ts';
import { FIELDS, type Field } from '../../../src/formats/row.ts';
import { BookText, YearText } from '../book/book-text.tsx';
import { closeFileDialog } from '../files/opened-dialog.ts';
import { Progress } from '../files/progress.tsx';
import { formatMessage } from '../language/format.ts';
import { allTexts, explain } from '../language/texts.ts';
import { Button, LinkButton } from '../page/button.tsx';
import { Dialog, StepHeading } from '../page/dialog.tsx';
import { DuplicateSearch } from './duplicate-search.ts';

/** Finds books that are probably the same, and merges them one group after another. */
export function DuplicatesDialog() {
  const t = allTexts.value;
  const search = useMemo(() => new DuplicateSearch(), []);
  useEffect(() => {
    void search.start();
    return () => search.stop();
  }, []);
  const [group] = search.groups.value;
  const isReading = search.isReading.value;
  return (
    <Dialog label={t.duplicates} class="files" onDismiss={closeFileDialog}>
      <StepHeading text={t.duplicates} note={t.duplicatesHint} />
      {isReading && (
        <Progress
          label={t.searchingDuplicates}
          value={search.read.value}
          max={search.total.value}
          numbers={
            search.total.value === undefined
              ? undefined
              : formatMessage(t.progress, { done: search.read.value, total: search.total.value })
          }
          status={t.searchingDuplicates}
        />
      )}
      <p role="status">
        {(!isReading || group) && formatMessage(t.duplicateGroups, { count: search.groups.value.length })}
      </p>
      <p class="error" role="alert">
        {search.error.value !== undefined && explain(search.error.value)}
      </p>
      {group && <GroupForm key={group} search={search} group={group} />}
      <div class="buttons">
        {isReading && <Button text={t.stop} onClick={() => search.stop()} />}
        <Button text={t.close} onClick={closeFileDialog} />
      </div>
    </Dialog>
  );
}

/** The choice of the fields of a merged book. */
function GroupForm({ search, group }: { search: DuplicateSearch; group: readonly Book[] }) {
  const t = allTexts.value;
  const error = useSignal('');
  const table = useRef<HTMLTableElement>(null);
  // The button that had the focus was that of the last group.
  useEffect(() => {
    if (document.activeElement === document.body) table.current?.querySelector('input')?.focus();
  }, []);
  const chosen = useSignal<Readonly<Record<Field, number>>>({ title: 0, author: 0, year: 0 });

  async function merge(): Promise<void> {
    const [first] = group;
    if (!first) return;
    const { title, author, year } = chosen.value;
    const fields = {
      title: (group[title] ?? first).title,
      author: (group[author] ?? first).author,
      year: (group[year] ?? first).year,
    };
    try {
      const kind = await search.merge(group, fields);
      error.value = kind === 'done' ? '' : `${formatMessage(t.number, { id: first.id })} ${t.failures[kind]}`;
    } catch (reason) {
      error.value = explain(reason);
    }
  }

  return (
    <div>
      <div class="duplicates">
        <table ref={table}>
          <thead>
            <tr>
              <td />
              {group.map(({ id }) => (
                <th key={id} scope="col">
                  {formatMessage(t.number, { id: String(id) })}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {FIELDS.map((field) => (
              <tr key={field}>
                <th scope="row">{t.columns[field]}</th>
                {group.map((book, index) => (
                  <td key={book.id}>
                    <label>
                      <input
                        type="radio"
                        name={field}
                        checked={chosen.value[field] === index}
                        onChange={() => {
                          chosen.value = { ...chosen.value, [field]: index };
                        }}
                      />
                      {field === 'year' ? (
                        <YearText year={book.year} />
                      ) : (
                        <BookText text={book[field]} absent={field === 'title' ? t.noTitle : t.noAuthor} />
                      )}
                    </label>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="error" role="alert">
        {error.value}
      </p>
      <div class="buttons">
        <LinkButton text={t.skip} variant="first" onClick={() => search.skip(group)} />
        <Button text={t.keepAll} onClick={() => search.keep(group)} />
        <Button text={t.merge} variant="primary" onClick={() => void merge()} />
      </div>
    </div>
  );
}
