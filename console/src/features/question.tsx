import { useEffect } from 'preact/hooks';
import { allTexts } from '../language/texts.ts';
import type { OpenDialog } from '../state/dialogs.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, StepHeading } from '../ui/dialog.tsx';
import { useApp } from './use-app.ts';

/** A question, whose answer is no unless the user chooses the button. */
export function Question({ text, yes, note, answer }: Extract<OpenDialog, { kind: 'question' }>) {
  const { dialogs } = useApp();
  const close = () => dialogs.close();
  useEffect(() => () => answer(false), []);
  return (
    <Dialog label={text} onDismiss={close}>
      <StepHeading text={text} note={note} />
      <div class="buttons">
        <Button text={allTexts.value.cancel} onClick={close} />
        <Button
          text={yes}
          variant="primary"
          onClick={() => {
            answer(true);
            close();
          }}
        />
      </div>
    </Dialog>
  );
}
