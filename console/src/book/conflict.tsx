import { texts } from '../language/language.ts';
import type { Editing } from './edit-session.ts';
import { FIELDS, type TypedFields } from './fields.ts';

/** Both versions of a book of which two people have changed the same field at the same time, side by side. */
export function Conflict({ editing, theirs }: { editing: Editing; theirs: TypedFields }) {
  const t = texts.value;
  const versions: [name: string, fields: TypedFields, choose: string, act: () => void][] = [
    [t.yourVersion, editing.typed.value, t.keepMine, () => void editing.save()],
    [t.theirVersion, theirs, t.takeTheirs, () => void editing.takeTheirs()],
  ];
  const isOther = (field: keyof TypedFields) => editing.typed.value[field] !== theirs[field];
  return (
    <>
      <h2>{t.conflict}</h2>
      <p class="quiet">{t.conflictHint}</p>
      <div class="versions">
        {versions.map(([name, fields, choose, act]) => (
          <section key={name} class="version" aria-label={name}>
            <h3>{name}</h3>
            <dl>
              {FIELDS.map((field) => (
                <div key={field} class={isOther(field) ? `part ${field} other` : `part ${field}`}>
                  <dt>
                    {t.columns[field]}
                    {isOther(field) && <span class="mark-other">{t.differs}</span>}
                  </dt>
                  <dd dir="auto" tabIndex={fields[field].length > SCROLLED_LENGTH ? 0 : undefined}>
                    {fields[field] || '–'}
                  </dd>
                </div>
              ))}
            </dl>
            <button type="button" class="button" onClick={act}>
              {choose}
            </button>
          </section>
        ))}
      </div>
      <button type="button" class="link" onClick={() => editing.editFurther()}>
        {t.editFurther}
      </button>
    </>
  );
}

/** A text from about this length on may have to be scrolled, also with the keyboard. */
const SCROLLED_LENGTH = 200;
