import { signal } from '@preact/signals';
import { isEmpty, total } from '../catalogue/catalogue.ts';
import { texts } from '../language/texts.ts';
import { LinkButton } from '../page/button.tsx';
import { useModule } from '../page/use-module.ts';

/** Fewer books need no button: they are a few screens. */
const BUTTON_BOOKS_MIN = 100;

const isOpen = signal(false);

/** The row that the table shows next, at its top and with the focus. */
export const targetRow = signal<number | undefined>(undefined);

export function openGoTo(): void {
  isOpen.value = !isEmpty.value;
}

function close(): void {
  isOpen.value = false;
}

function show(row: number): void {
  targetRow.value = row;
}

export function GoToButton() {
  if ((total.value ?? 0) < BUTTON_BOOKS_MIN) return null;
  return <LinkButton text={texts.value.goTo} onClick={openGoTo} />;
}

/** The dialog that asks where to go, whose code is loaded when it is first opened. */
export function GoTo() {
  const module = useModule(isOpen.value, () => import('./go-to-dialog.tsx'), close);
  return module && isOpen.value && <module.GoToDialog onFound={show} onClose={close} />;
}
