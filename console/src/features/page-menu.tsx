import { texts } from '../language/texts.ts';
import { LinkButton } from '../ui/button.tsx';
import { DensityMenu, LanguageMenu, ThemeMenu } from './preference-menus.tsx';
import { useApp } from './use-app.ts';

/** What is not needed every minute. */
export function PageMenu() {
  const { dialogs, session, history, isNarrow, preferences } = useApp();
  const isReadOnly = session.isReadOnly.value;
  const t = texts.value;
  const { chart } = preferences;
  return (
    <>
      <button type="button" class="link menu-button" popovertarget="menu">
        {t.more}
      </button>
      <div id="menu" class="menu card" popover="auto">
        {isNarrow.value && (
          <>
            {!isReadOnly && entry(t.import, () => dialogs.show({ kind: 'import', files: [] }))}
            {entry(t.export, () => dialogs.show({ kind: 'export', isSelection: false }))}
          </>
        )}
        {!isReadOnly && entry(t.operations, () => dialogs.show({ kind: 'operations' }))}
        {history.isKept.value && entry(t.recentlyDeleted, () => dialogs.show({ kind: 'deleted' }))}
        {!isReadOnly && entry(t.duplicates, () => dialogs.show({ kind: 'duplicates' }))}
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
    </>
  );
}

function entry(text: string, run: () => void) {
  return <LinkButton text={text} popovertarget="menu" popovertargetaction="hide" onClick={run} />;
}
