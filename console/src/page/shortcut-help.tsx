import { allTexts } from '../language/texts.ts';
import { Button } from './button.tsx';
import { Dialog, StepHeading } from './dialog.tsx';

/** The dialog that lists the shortcuts. */
export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  const t = allTexts.value;
  return (
    <Dialog label={t.shortcuts} onDismiss={onClose}>
      <StepHeading text={t.shortcuts} />
      <dl class="keys">
        {Object.entries(t.shortcutList).map(([key, meaning]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <div class="buttons">
        <Button text={t.close} onClick={onClose} />
      </div>
    </Dialog>
  );
}
