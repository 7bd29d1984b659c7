import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { isOfInputMethod } from '../../ui/keys.ts';
import { useListeners } from '../../ui/use-listeners.ts';

/** How long after a composition the next one continues its text: the syllables of a Korean word follow one another at once. */
const PAUSE_MS = 50;
/** What is there for a composition, which replaces the second character: without the first one, a cancelled one removes the element. */
const REPLACED = '\u200b\u200b';

interface TypedTextProps {
  /** Set while the cell shows a composition instead of its text. */
  readonly isComposing: Signal<boolean>;
  /** Opens the cell with a text. */
  readonly onText: (text: string) => void;
  /** Stores a text in the cell, which the user has left. */
  readonly onLeft: (text: string) => void;
}

/**
 * Takes what is typed into the active cell without a key of its own: by an input method, an emoji panel or dictation, with AltGr or a dead
 * key. Browsers give it to editable elements only, so the cell is one, with its role and an explicit name. A composition cannot move to
 * another element: its text is here until it ends, and then in the editor.
 */
export function TypedText(props: TypedTextProps) {
  const element = useRef<HTMLSpanElement>(null);
  const latest = useRef(props);
  latest.current = props;
  useListeners((signal) => {
    const { current: place } = element;
    const cell = place?.parentElement;
    if (!place || !cell) return;
    const { dataset } = cell;
    let timer: ReturnType<typeof setTimeout> | undefined;
    function take(isLeft = false): void {
      clearTimeout(timer);
      if (!place || dataset.composing === undefined) return;
      const text = place.textContent.replaceAll('\u200b', '');
      place.textContent = '';
      delete dataset.composing;
      props.isComposing.value = false;
      if (text !== '') latest.current[isLeft ? 'onLeft' : 'onText'](text);
    }
    function insert(event: InputEvent): void {
      if (event.inputType === 'insertCompositionText' || dataset.composing !== undefined) return;
      // Nothing else changes what the cell shows.
      event.preventDefault();
      const text = event.data ?? event.dataTransfer?.getData('text/plain') ?? '';
      if (text !== '' && event.inputType !== 'insertFromDrop') latest.current.onText(text);
    }
    function compose(): void {
      clearTimeout(timer);
      if (dataset.composing !== undefined) return;
      dataset.composing = '';
      props.isComposing.value = true;
      const text = new Text(REPLACED);
      place?.replaceChildren(text);
      getSelection()?.setBaseAndExtent(text, 1, text, 2);
    }
    // An element that has the focus already gets no place for texts when it becomes editable.
    if (document.activeElement === cell) getSelection()?.collapse(place);
    cell.addEventListener('beforeinput', insert, { signal });
    cell.addEventListener('compositionstart', compose, { signal });
    cell.addEventListener('compositionend', () => (timer = setTimeout(() => take(), PAUSE_MS)), { signal });
    cell.addEventListener('keydown', (event) => isOfInputMethod(event) || take(), { signal });
    // As in an editor: it is left neither when a dialog takes the focus nor when the user looks at another window.
    const leave = () => take(document.hasFocus() && !document.querySelector('dialog[open]'));
    cell.addEventListener('blur', leave, { signal });
    // On Linux, a middle click pastes the selected text of any window: after the first event in Chromium, the second one in Firefox.
    for (const type of ['mouseup', 'auxclick'] as const)
      cell.addEventListener(type, (event) => event.button === 1 && event.preventDefault(), { signal });
    signal.addEventListener('abort', () => take(true));
  });
  return <span ref={element} class="typed" />;
}
