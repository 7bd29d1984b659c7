import type { Signal } from '@preact/signals';
import { LANGUAGE_NAMES, language } from '../language/language.ts';
import { texts } from '../language/texts.ts';
import { density, theme } from './preferences.ts';

export function PreferenceMenus() {
  const t = texts.value;
  return (
    <div class="preferences">
      <Menu label={t.language} choice={language} names={LANGUAGE_NAMES} />
      <Menu label={t.theme} choice={theme} names={t.themes} />
    </div>
  );
}

export function DensityMenu() {
  const t = texts.value;
  return <Menu label={t.density} choice={density} names={t.densities} />;
}

interface MenuProps<Choice extends string> {
  readonly label: string;
  readonly choice: Signal<Choice>;
  readonly names: Readonly<Record<Choice, string>>;
}

function Menu<Choice extends string>({ label, choice, names }: MenuProps<Choice>) {
  return (
    <label>
      <span class="visually-hidden">{label}</span>
      <select
        value={choice.value}
        onChange={({ currentTarget }) => {
          choice.value = currentTarget.value as Choice;
        }}
      >
        {Object.entries<string>(names).map(([value, name]) => (
          <option key={value} value={value} lang={value in LANGUAGE_NAMES ? value : undefined}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
