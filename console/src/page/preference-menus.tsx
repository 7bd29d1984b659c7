import { type Language, language, texts } from '../language/language.ts';
import { THEMES, theme } from './theme.ts';

const LANGUAGES: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' };

/** The switches for language and brightness. */
export function Choices() {
  const t = texts.value;
  return (
    <div class="choices">
      <label class="choice">
        <span class="unseen">{t.language}</span>
        <select
          value={language.value}
          onChange={({ currentTarget }) => {
            language.value = currentTarget.value as Language;
          }}
        >
          {Object.entries(LANGUAGES).map(([code, name]) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class="choice">
        <span class="unseen">{t.theme}</span>
        <select
          value={theme.value}
          onChange={({ currentTarget }) => {
            theme.value = currentTarget.value as typeof theme.value;
          }}
        >
          {THEMES.map((name) => (
            <option key={name} value={name}>
              {t.themes[name]}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
