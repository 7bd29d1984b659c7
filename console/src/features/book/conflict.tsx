import { FIELDS } from '../../../../src/formats/row.ts';
import { allTexts } from '../../language/texts.ts';
import type { EditSession } from '../../state/edit-session.ts';
import type { FormFields } from '../../state/fields.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { StepHeading } from '../../ui/dialog.tsx';

/** A text of this length may need to scroll, also by keyboard. */
const SCROLLED_LENGTH = 200;

/** Shows two versions of a book side by side, after two users have changed the same field. */
export function Conflict({ edit, theirs }: { edit: EditSession; theirs: FormFields }) {
  const t = allTexts.value;
  const mine = edit.draft.value;
  const versions: [name: string, fields: FormFields, choose: string, act: () => Promise<void>][] = [
    [t.yourVersion, mine, t.keepMine, () => edit.save()],
    [t.theirVersion, theirs, t.takeTheirs, () => edit.save(theirs)],
  ];
  return (
    <>
      <StepHeading text={t.conflict} note={t.conflictHint} />
      <div class="versions">
        {versions.map(([name, fields, choose, act]) => (
          <section key={name} class="version" aria-label={name}>
            <h3>{name}</h3>
            <dl>
              {FIELDS.map((field) => (
                <div key={field} class={`part ${field} ${mine[field] === theirs[field] ? '' : 'other'}`}>
                  <dt>
                    {t.columns[field]}
                    {mine[field] !== theirs[field] && <span class="mark-other">{t.differs}</span>}
                  </dt>
                  <dd dir="auto" tabIndex={fields[field].length > SCROLLED_LENGTH ? 0 : undefined}>
                    {fields[field] || '–'}
                  </dd>
                </div>
              ))}
            </dl>
            <Button text={choose} onClick={() => void act()} />
          </section>
        ))}
      </div>
      <LinkButton text={t.continueEditing} onClick={() => edit.continueEditing()} />
    </>
  );
}
