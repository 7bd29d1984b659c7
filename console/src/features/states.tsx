import { FIELDS } from '../../../src/formats/row.ts';
import { allTexts } from '../language/texts.ts';
import type { FormFields } from '../state/fields.ts';

interface StatesProps {
  /** One state or two, each with its heading. */
  readonly states: readonly (readonly [heading: string, fields: FormFields])[];
}

/** States of a book beside each other; where they differ is marked. */
export function States({ states }: StatesProps) {
  const t = allTexts.value;
  return (
    <table class="states">
      <thead>
        <tr>
          <td class="label" />
          {states.map(([heading]) => (
            <th key={heading} scope="col">
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {FIELDS.map((field) => {
          const differs = new Set(states.map(([, fields]) => fields[field])).size > 1;
          return (
            <tr key={field} class={differs ? 'other' : ''}>
              <th scope="row">
                {t.columns[field]}
                {differs && <span class="differs">{t.differs}</span>}
              </th>
              {states.map(([heading, fields]) => (
                <td key={heading} dir="auto">
                  {fields[field] || '–'}
                </td>
              ))}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
