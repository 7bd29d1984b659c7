import type { Signal } from '@preact/signals';
import { LANGUAGE_NAMES, language } from '../language/language.ts';
import { texts } from '../language/texts.ts';
import { useApp } from './use-app.ts';

export function LanguageMenu() {
  return <Menu label={texts.value.language} choice={language} names={LANGUAGE_NAMES} />;
}

export function ThemeMenu() {
  const t = texts.value;
  return <Menu label={t.theme} choice={useApp().preferences.theme} names={t.themes} />;
}

export function DensityMenu() {
  const t = texts.value;
  return <Menu label={t.density} choice={useApp().preferences.density} names={t.densities} />;
}

interface MenuProps<Choice extends string> {
  readonly label: string;
  readonly choice: Signal<Choice>;
  readonly names: Readonly<Record<Choice, string>>;
}

function Menu<Choice extends string>({ label, choice, names }: MenuProps<Choice>) {
  return (
    <label class="choice">
      <span>{label}</span>
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
