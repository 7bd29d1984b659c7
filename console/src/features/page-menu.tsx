import type { Signal } from '@preact/signals';
import type { TargetedKeyboardEvent, TargetedToggleEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { LANGUAGE_NAMES, language } from '../language/language.ts';
import { allTexts } from '../language/texts.ts';
import { printBooks } from './printed-books.tsx';
import { useApp } from './use-app.ts';

/**
 * What is not needed every minute. Beside Tab, the arrow keys move the focus.
 *
 * @param isOpened whether it opens by itself, as its button was pressed before it was loaded
 */
export function PageMenu({ isOpened }: { readonly isOpened: boolean }) {
  const app = useApp();
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isOpened && !document.querySelector('dialog[open]')) menu.current?.showPopover();
  }, []);
  const { dialogs, session, history, isNarrow, preferences } = app;
  const isReadOnly = session.isReadOnly.value;
  const t = allTexts.value;
  const { chart } = preferences;
  return (
    <>
      <button type="button" class="button ghost menu-button" popovertarget="menu">
        {t.more}
      </button>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is no popover in all browsers */}
      <div
        ref={menu}
        id="menu"
        class="menu card"
        popover="auto"
        role="group"
        aria-label={t.more}
        onToggle={focusFirst}
        onKeyDown={moveFocus}
      >
        <h2>{t.menuData}</h2>
        {!isReadOnly && entry('import', t.import, () => dialogs.show({ kind: 'import', files: [] }))}
        {entry('export', t.export, () => dialogs.show({ kind: 'export', isSelection: false }))}
        {entry('print', t.print, () => void printBooks(app), 'Ctrl + P')}
        {history.isKept.value && entry('history', t.history, () => dialogs.show({ kind: 'history' }))}
        {!isReadOnly && entry('duplicates', t.duplicates, () => dialogs.show({ kind: 'duplicates' }))}
        <h2>{t.menuView}</h2>
        {entry('chart', chart.value === 'shown' ? t.hideChart : t.showChart, () => {
          chart.value = chart.value === 'shown' ? 'hidden' : 'shown';
        })}
        <Choice icon="density" label={t.density} choice={preferences.density} names={t.densities} />
        <Choice icon="language" label={t.language} choice={language} names={LANGUAGE_NAMES} />
        <Choice icon="theme" label={t.theme} choice={preferences.theme} names={t.themes} />
        {!isNarrow.value &&
          entry('shortcuts', t.shortcuts, () => dialogs.show({ kind: 'shortcuts' }), 'Ctrl + /')}
        <h2>{t.menuAccount}</h2>
        <a class="button ghost" href="../docs">
          <Icon name="api" />
          {t.apiPage}
        </a>
        {entry('signOut', t.signOut, () => session.signOut())}
      </div>
    </>
  );
}

function entry(icon: keyof typeof ICONS, text: string, run: () => void, keys?: string) {
  return (
    <button
      type="button"
      class="button ghost"
      popovertarget="menu"
      popovertargetaction="hide"
      aria-keyshortcuts={keys?.replace(/ \+ /g, '+').replace('Ctrl', 'Control')}
      data-keys={keys}
      onClick={run}
    >
      <Icon name={icon} />
      {text}
    </button>
  );
}

/** Their lines, on a square of 16 px. */
const ICONS = {
  import: 'M8 2v8M5 7l3 3 3-3M2.5 10.5v3h11v-3',
  export: 'M8 10V2M5 5l3-3 3 3M2.5 10.5v3h11v-3',
  print: 'M4.5 6V2h7v4M4.5 11.5h-2V6h11v5.5h-2M4.5 9.5h7V14h-7z',
  history: 'M8 4.5V8l2.5 1.5M3 5.5A5.5 5.5 0 1 1 2.5 8M2.5 2.5v3h3',
  duplicates: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  chart: 'M2 13.5h12M4 11V7.5M8 11V2.5M12 11V5.5',
  density: 'M2.5 3h11M2.5 6.3h11M2.5 9.6h11M2.5 13h11',
  language: 'M2.5 8a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0h11M8 2.5c-3 3-3 8 0 11M8 2.5c3 3 3 8 0 11',
  theme: 'M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11',
  shortcuts: 'M1.5 4h13v8h-13zM4 6.5h1M7.5 6.5h1M11 6.5h1M5 9.5h6',
  api: 'M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5',
  signOut: 'M9.5 2.5h-7v11h7M6.5 8H14M11.5 5.5L14 8l-2.5 2.5',
} as const;

function Icon({ name }: { readonly name: keyof typeof ICONS }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={ICONS[name]} />
    </svg>
  );
}

interface ChoiceProps<Name extends string> {
  readonly icon: keyof typeof ICONS;
  readonly label: string;
  readonly choice: Signal<Name>;
  readonly names: Readonly<Record<Name, string>>;
}

function Choice<Name extends string>({ icon, label, choice, names }: ChoiceProps<Name>) {
  return (
    <label class="choice">
      <Icon name={icon} />
      <span>{label}</span>
      <select
        value={choice.value}
        onChange={({ currentTarget }) => (choice.value = currentTarget.value as Name)}
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

const controlsOf = (menu: HTMLElement) => [...menu.querySelectorAll<HTMLElement>('button, select, a')];

function focusFirst({ newState, currentTarget }: TargetedToggleEvent<HTMLElement>): void {
  if (newState === 'open') controlsOf(currentTarget)[0]?.focus();
}

function moveFocus(event: TargetedKeyboardEvent<HTMLElement>): void {
  const controls = controlsOf(event.currentTarget);
  const index = controls.indexOf(document.activeElement as HTMLElement);
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: index + 1,
    ArrowUp: index - 1,
    Home: 0,
    End: controls.length - 1,
  };
  const next = moves[event.key];
  if (next === undefined) return;
  event.preventDefault();
  controls.at(next % controls.length)?.focus();
}
