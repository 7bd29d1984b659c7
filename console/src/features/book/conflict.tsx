import { allTexts } from '../../language/texts.ts';
import type { EditSession } from '../../state/edit-session.ts';
import type { FormFields } from '../../state/fields.ts';
import { Button } from '../../ui/button.tsx';
import { StepHeading } from '../../ui/dialog.tsx';
import { States } from '../states.tsx';

/** Shows two versions of a book side by side, after two users have changed the same field. */
export function Conflict({ edit, theirs }: { edit: EditSession; theirs: FormFields }) {
  const t = allTexts.value;
  return (
    <>
      <StepHeading text={t.conflict} note={t.conflictHint} />
      <States
        states={[
          [t.yourVersion, edit.draft.value],
          [t.theirVersion, theirs],
        ]}
      />
      <div class="buttons">
        <Button text={t.continueEditing} variant="ghost first" onClick={() => edit.continueEditing()} />
        <Button text={t.keepMine} onClick={() => void edit.save()} />
        <Button text={t.takeTheirs} onClick={() => void edit.save(theirs)} />
      </div>
    </>
  );
}
