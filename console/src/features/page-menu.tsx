import { useEffect, useRef } from 'preact/hooks';
import { texts } from '../language/texts.ts';
import { LinkButton } from '../ui/button.tsx';
import { DensityMenu, LanguageMenu, ThemeMenu } from './preference-menus.tsx';
import { useApp } from './use-app.ts';

/** What is not needed every minute. */
export function PageMenu() {
  const { dialogs, session, history, isNarrow, preferences } = useApp();
  const isReadOnly = session.isReadOnly.value;
  const menu = useRef<HTMLDetailsElement>(null);
  const t = texts.value;
  const { chart } = preferences;

  function close(): void {
    if (menu.current) menu.current.open = false;
  }

  useEffect(() => {
    const closeOutside = ({ target }: Event) => {
      if (menu.current?.open && !menu.current.contains(target as Node)) close();
    };
    addEventListener('pointerdown', closeOutside);
    addEventListener('focusin', closeOutside);
    return () => {
      removeEventListener('pointerdown', closeOutside);
      removeEventListener('focusin', closeOutside);
    };
  }, []);

  const entry = (text: string, run: () => void) => (
    <LinkButton
      text={text}
      onClick={() => {
        close();
        menu.current?.querySelector('summary')?.focus();
        run();
      }}
    />
  );
  return (
    <details
      ref={menu}
      class="menu"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        close();
        menu.current?.querySelector('summary')?.focus();
        event.stopPropagation();
      }}
    >
      <summary class="link">{t.more}</summary>
      <div class="menu-body card">
        {isNarrow.value && (
          <>
            {!isReadOnly && entry(t.import, () => dialogs.show({ kind: 'import', files: [] }))}
            {entry(t.export, () => dialogs.show({ kind: 'export', isSelection: false }))}
          </>
        )}
        {!isReadOnly && (
          <>
            {entry(t.operations, () => dialogs.show({ kind: 'operations' }))}
            {history.isKept.value && entry(t.recentlyDeleted, () => dialogs.show({ kind: 'deleted' }))}
            {entry(t.duplicates, () => dialogs.show({ kind: 'duplicates' }))}
          </>
        )}
        {entry(chart.value === 'shown' ? t.hideChart : t.showChart, () => {
          chart.value = chart.value === 'shown' ? 'hidden' : 'shown';
        })}
        <DensityMenu />
        <LanguageMenu />
        <ThemeMenu />
        {!isNarrow.value && entry(t.shortcuts, () => dialogs.show({ kind: 'shortcuts' }))}
        <a class="link" href="../docs">
          {t.apiPage}
        </a>
        {entry(t.signOut, () => session.signOut())}
      </div>
    </details>
  );
}
