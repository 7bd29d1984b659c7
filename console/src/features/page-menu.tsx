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
        {!isReadOnly && entry(t.import, () => dialogs.show({ kind: 'import', files: [] }))}
        {entry(t.export, () => dialogs.show({ kind: 'export', isSelection: false }))}
        {entry(t.print, () => void printBooks(app), 'Ctrl + P')}
        {history.isKept.value && entry(t.history, () => dialogs.show({ kind: 'history' }))}
        {!isReadOnly && entry(t.duplicates, () => dialogs.show({ kind: 'duplicates' }))}
        <h2>{t.menuView}</h2>
        {entry(chart.value === 'shown' ? t.hideChart : t.showChart, () => {
          chart.value = chart.value === 'shown' ? 'hidden' : 'shown';
        })}
        <Choice label={t.density} choice={preferences.density} names={t.densities} />
        <Choice label={t.language} choice={language} names={LANGUAGE_NAMES} />
        <Choice label={t.theme} choice={preferences.theme} names={t.themes} />
        {!isNarrow.value && entry(t.shortcuts, () => dialogs.show({ kind: 'shortcuts' }), 'Ctrl + /')}
        <h2>{t.menuAccount}</h2>
        <a class="button ghost" href="../docs">
          {t.apiPage}
        </a>
        {entry(t.signOut, () => session.signOut())}
      </div>
    </>
  );
}

function entry(text: string, run: () => void, keys?: string) {
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
      {text}
    </button>
  );
}

interface ChoiceProps<Name extends string> {
  readonly label: string;
  readonly choice: Signal<Name>;
  readonly names: Readonly<Record<Name, string>>;
}

function Choice<Name extends string>({ label, choice, names }: ChoiceProps<Name>) {
  return (
    <label class="choice">
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
