import { BookDialog } from './book/book-dialog.tsx';
import { DuplicatesDialog } from './duplicates-dialog.tsx';
import { FieldDialog } from './field-dialog.tsx';
import { ExportDialog } from './files/export-dialog.tsx';
import { ImportDialog } from './files/import-dialog.tsx';
import { HistoryDialog } from './history/history.tsx';
import { Question } from './question.tsx';
import { ShortcutHelp } from './shortcut-help.tsx';
import { useApp } from './use-app.ts';

/** The dialog that is open. */
export function OpenedDialog() {
  const { value: opened } = useApp().dialogs.open;
  switch (opened?.kind) {
    case 'book':
      return <BookDialog key={opened.id} id={opened.id} />;
    case 'import':
      return <ImportDialog files={opened.files} />;
    case 'export':
      return <ExportDialog isSelection={opened.isSelection} />;
    case 'field':
      return <FieldDialog field={opened.field} />;
    case 'duplicates':
      return <DuplicatesDialog />;
    case 'history':
      return <HistoryDialog />;
    case 'question':
      return <Question {...opened} />;
    case 'shortcuts':
      return <ShortcutHelp />;
    default:
      return null;
  }
}
