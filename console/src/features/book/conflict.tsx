import { FIELDS } from 'bookkeeping-formats/row.ts';
import { allTexts } from '../../language/texts.ts';
import type { EditSession } from '../../state/edit-session.ts';
import type { FormFields } from '../../state/fields.ts';
import { Button } from '../../ui/button.tsx';
import { StepHeading } from '../../ui/dialog.tsx';

/** Shows two versions of a book side by side, after two users have changed the same field. */
export function Conflict({ edit, theirs }: { edit: EditSession; theirs: FormFields }) {
  const t = allTexts.value;
  const { value: mine } = edit.draft;
  return (
    <>
      <StepHeading text={t.conflict} note={t.conflictHint} />
      <table class="states">
        <thead>
          <tr>
            <td class="label" />
            <th scope="col">{t.yourVersion}</th>
            <th scope="col">{t.theirVersion}</th>
          </tr>
        </thead>
        <tbody>
          {FIELDS.map((field) => (
            <tr key={field} class={mine[field] === theirs[field] ? '' : 'other'}>
              <th scope="row">
                {t.columns[field]}
                {mine[field] !== theirs[field] && <span class="differs">{t.differs}</span>}
              </th>
              <td dir="auto">{mine[field] || '–'}</td>
              <td dir="auto">{theirs[field] || '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="buttons">
        <Button text={t.continueEditing} variant="ghost first" onClick={() => edit.continueEditing()} />
        <Button text={t.keepMine} onClick={() => void edit.save()} />
        <Button text={t.takeTheirs} onClick={() => void edit.save(theirs)} />
      </div>
    </>
  );
}
