import { allTexts } from '../language/texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, StepHeading } from '../ui/dialog.tsx';
import { useApp } from './use-app.ts';

/** The dialog that lists the shortcuts. */
export function ShortcutHelp() {
  const { dialogs, session } = useApp();
  const t = allTexts.value;
  const list = { ...t.shortcutList, ...(!session.isReadOnly.value && t.editingShortcuts) };
  return (
    <Dialog label={t.shortcuts} onDismiss={() => dialogs.close()}>
      <StepHeading text={t.shortcuts} />
      <dl class="keys">
        {Object.entries(list).map(([key, meaning]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <div class="buttons">
        <Button text={t.close} onClick={() => dialogs.close()} />
      </div>
    </Dialog>
  );
}
