import type { Change, ChangePage } from '../../book/book-history.ts';
import { writeChangeCursor } from './change-cursor.ts';

/** The changes of a page as a JSON array; followers that wait for the same change share it. */
export const jsonOf = once((page) =>
  Buffer.from(`[${page.changes.map((change) => textOf(page, change)).join(',')}]`),
);

/** The changes of a page as server-sent events (HTML standard, section 9.2). */
export const eventsOf = once((page) => {
  const events = page.changes.map(
    (change) => `id: ${cursorOf(page, change)}\nevent: ${change.type}\ndata: ${textOf(page, change)}\n\n`,
  );
  return Buffer.from(events.join(''));
});

function cursorOf({ log }: ChangePage, { position }: Change): string {
  return writeChangeCursor({ log, position });
}

function textOf(page: ChangePage, change: Change): string {
  const { type, at, book } = change;
  return JSON.stringify({ cursor: cursorOf(page, change), type, at: new Date(at).toISOString(), book });
}

/** Renders each page once. */
function once(render: (page: ChangePage) => Buffer): (page: ChangePage) => Buffer {
  const rendered = new WeakMap<ChangePage, Buffer>();
  return (page) => {
    const known = rendered.get(page) ?? render(page);
    rendered.set(page, known);
    return known;
  };
}
