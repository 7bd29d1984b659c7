import { BOOK_SIZE_MAX, ROW_SIZE_MAX } from '../../../src/formats/row.ts';
import type { FileTexts } from './file-texts-en.ts';
import { formatNumber, plural } from './language.ts';

export const fileTextsDe: FileTexts = {
  importBooks: 'Bücher importieren',
  dropHint: 'Legen Sie eine Datei hier ab, oder wählen Sie eine.',
  acceptedFormats: 'CSV, wie Tabellenprogramme es speichern, JSON oder NDJSON.',
  chooseFile: 'Datei wählen',
  chooseAnother: 'Andere Datei wählen',
  reading: (name) => `${name} wird gelesen …`,
  problems: {
    workbook:
      'Das ist eine Arbeitsmappe. Speichern Sie das Blatt als CSV, und importieren Sie die CSV-Datei.',
    binary: 'Das ist keine Textdatei. Bücher können aus CSV, JSON und NDJSON importiert werden.',
    'not-utf8': 'Diese JSON-Datei ist nicht in UTF-8 kodiert. Speichern Sie sie in UTF-8.',
    'no-array': 'Diese JSON-Datei beginnt nicht mit einem Array von Büchern: mit „[“.',
    'no-rows': 'In dieser Datei sind keine Bücher.',
    unreadable:
      'Die Datei kann nicht gelesen werden. Vielleicht wurde sie geändert, verschoben oder gesperrt; wählen Sie sie erneut.',
    multiple: 'Importieren Sie eine Datei nach der anderen.',
  },

  columnMapping: 'Spalten',
  noColumn: 'leer lassen',
  hasHeader: 'Die erste Zeile enthält die Spaltennamen',
  preview: 'Die ersten Zeilen, wie sie importiert werden',
  line: 'Zeile',
  windows1252: 'Die Datei ist nicht in UTF-8. Sie wurde als Windows-1252 gelesen: Prüfen Sie die Umlaute.',
  checking: 'Die Zeilen werden geprüft …',
  validRows: plural('[1 Buch kann|# Bücher können] importiert werden.'),
  noValidRows: 'Keine Zeile dieser Datei kann importiert werden. Prüfen Sie die Spalten.',
  invalidRows: plural('[1 Zeile ist ungültig und wird|# Zeilen sind ungültig und werden] ausgelassen.'),
  skipExisting: 'Vorhandene Bücher überspringen',
  searchingExisting: 'Vorhandene Bücher werden gesucht …',
  existing: plural(
    '[1 Buch ist|# Bücher sind] vorhanden (Titel, Autor und Jahr) und [wird|werden] übersprungen.',
  ),
  notSearched: (reason) => `Die Suche nach vorhandenen Büchern ist fehlgeschlagen. ${reason}`,
  invalidShown: (count) => `Das sind die ersten ${formatNumber(count)}; der Bericht hat alle.`,
  showInvalid: 'Ungültige Zeilen zeigen',
  atLine: (line) => `Zeile ${formatNumber(line)}`,
  atElement: (element) => `Element ${formatNumber(element)}`,
  saveReport: 'Bericht speichern',
  reportName: 'ungültige Zeilen',
  reason: 'Grund',
  row: 'Inhalt',
  startImport: plural('[1 Buch|# Bücher] importieren'),

  progress: (done, total) => `${formatNumber(done)} von ${formatNumber(total)} Büchern`,
  rate: (perSecond) => `${formatNumber(perSecond)} pro Sekunde`,
  timeLeft: (seconds) => (seconds < 60 ? `noch ${seconds} s` : `noch ${Math.ceil(seconds / 60)} min`),
  phases: {
    sending: 'Die Bücher werden gespeichert.',
    waiting: 'Der Dienst antwortet nicht. Der Import wartet und geht von selbst weiter.',
    unconfirmed:
      'Der Dienst hat nicht mehr geantwortet, während Bücher gespeichert wurden. Damit keines doppelt gespeichert wird, sucht der Import zuerst nach ihnen; das dauert bis zu 15 Sekunden.',
  },
  stop: 'Anhalten',
  stopping: 'Wird angehalten …',

  done: plural('[1 Buch ist|# Bücher sind] gespeichert.'),
  leftOut: plural('[1 Zeile wurde|# Zeilen wurden] ausgelassen. Der Bericht nennt die Gründe.'),
  skipped: plural('[1 Buch war|# Bücher waren] schon vorhanden und [wurde|wurden] übersprungen.'),
  stopped: (stored, total) =>
    `Angehalten: ${formatNumber(stored)} von ${formatNumber(total)} Büchern sind gespeichert.`,
  unconfirmed: (first, last) =>
    `Ob die Bücher der Zeilen ${formatNumber(first)} bis ${formatNumber(last)} gespeichert sind, ist nicht bekannt. Setzen Sie den Import fort, um es festzustellen; nichts wird doppelt gespeichert.`,
  rejected: (first, last, reason) =>
    `Die Bücher der Zeilen ${formatNumber(first)} bis ${formatNumber(last)} wurden abgelehnt, und keines von ihnen ist gespeichert. ${reason}`,
  failed: 'Der Import wurde beendet, weil die Datei nicht mehr gelesen werden kann.',
  continue: 'Fortsetzen',
  undoImport: 'Import rückgängig machen',
  continueUndo: 'Weiter rückgängig machen',
  undoing: 'Die Bücher dieses Imports werden gelöscht.',
  undone: plural('[1 Buch dieses Imports ist|# Bücher dieses Imports sind] gelöscht.'),
  undoLeft: plural('[1 Buch ist|# Bücher sind] noch nicht gelöscht.'),
  kept: plural('[Dieses Buch wurde|Diese # Bücher wurden] inzwischen geändert und [bleibt|bleiben]:'),
  lastImport: plural(
    'Der letzte Import hat [1 Buch|# Bücher] gespeichert und kann rückgängig gemacht werden.',
  ),

  exportBooks: 'Bücher exportieren',
  exported: plural('[1 Buch|# Bücher]: alle jetzt aufgelisteten, in dieser Reihenfolge.'),
  exportedSome: 'Alle jetzt aufgelisteten Bücher, in dieser Reihenfolge.',
  formats: { csv: 'CSV', json: 'JSON', ndjson: 'NDJSON' },
  formatHints: {
    csv: 'für Tabellenprogramme. Texte, die wie eine Formel aussehen, bekommen vorn einen Apostroph; ein Import entfernt ihn.',
    json: 'für Programme: ein Array',
    ndjson: 'für Programme: ein Buch pro Zeile',
  },
  format: 'Format',
  exportedSoFar: plural('bisher [1 Buch|# Bücher]'),
  exportSaved: plural('[1 Buch ist|# Bücher sind] gespeichert.'),
  exportFailed: (reason) => `Nichts ist gespeichert. ${reason}`,
  diskError: 'Die Datei konnte nicht geschrieben werden.',
  fileName: 'Bücher',

  rowErrors: {
    'unclosed-quote': 'Ein Anführungszeichen wird nicht geschlossen; der Rest der Datei ist unlesbar.',
    'not-utf8': 'Das ist kein UTF-8.',
    'not-json': 'Das ist kein JSON.',
    'not-object': 'Das ist kein Objekt mit Titel, Autor und Jahr.',
    'no-array': 'Hier muss ein Array von Büchern beginnen, mit „[“.',
    malformed: 'Hier fehlt ein Komma oder das Ende des Arrays; der Rest der Datei ist unlesbar.',
    truncated: 'Die Datei endet vor dem Ende des Arrays.',
    trailing: 'Die Datei geht nach dem Ende des Arrays weiter; der Rest wird nicht gelesen.',
    'cell-count': (found, expected) =>
      `Die Zeile hat ${found === 1 ? '1 Zelle' : `${found} Zellen`}, die erste Zeile ${expected}.`,
    text: (field) => `Der Inhalt von „${field}“ ist kein Text, der gespeichert werden kann.`,
    year: (value) => `Das Jahr ist keine ganze Zahl, die gespeichert werden kann: „${value}“`,
    id: (value) => `Die Nummer ist keine ganze Zahl ab 1: „${value}“`,
    empty: 'Titel, Autor und Jahr fehlen.',
    'book-too-long': `Die Zeile ist länger, als ein Buch sein darf (${BOOK_SIZE_MAX}).`,
    'row-too-long': `Die Zeile ist länger als ${ROW_SIZE_MAX}; der Rest der Datei ist vielleicht nicht gelesen.`,
  },
};
