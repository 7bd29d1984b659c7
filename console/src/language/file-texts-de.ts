import type { Field } from '../../../src/formats/row.ts';
import type { Counted, Texts } from './file-texts-en.ts';

const books: Counted = (count, formatted) => (count === 1 ? '1 Buch' : `${formatted} Bücher`);

const FIELDS: Readonly<Record<Field, string>> = { title: 'Titel', author: 'Autor', year: 'Jahr' };

/** The texts of import and export in German. */
export const de: Texts = {
  importBooks: 'Bücher importieren',
  dropHint: 'Legen Sie eine Datei hier ab, oder wählen Sie eine.',
  kinds: 'CSV, wie Tabellenprogramme es speichern, JSON oder NDJSON.',
  chooseFile: 'Datei wählen',
  chooseAnother: 'Andere Datei',
  reading: (name) => `${name} wird gelesen …`,
  problems: {
    workbook:
      'Das ist eine Mappe eines Tabellenprogramms. Öffnen Sie sie dort, speichern Sie das Blatt als CSV, und importieren Sie das.',
    binary: 'Das ist keine Textdatei. Bücher lassen sich aus CSV, JSON und NDJSON lesen.',
    'not-utf8':
      'Diese JSON-Datei ist nicht in UTF-8, wie sie es sein sollte. Speichern Sie sie neu in UTF-8.',
    'no-array': 'Diese JSON-Datei beginnt nicht mit einer Liste von Büchern: mit „[“.',
    'no-rows': 'In dieser Datei sind keine Bücher.',
    gone: 'Die Datei lässt sich nicht lesen. Vielleicht ist sie inzwischen geändert, verschoben oder gesperrt; wählen Sie sie noch einmal.',
    several: 'Importieren Sie eine Datei nach der anderen.',
  },

  columns: 'Welche Spalte ist was?',
  none: 'leer lassen',
  hasHeader: 'Die erste Zeile nennt die Spalten',
  fields: FIELDS,
  preview: 'Die ersten Zeilen, wie sie importiert werden',
  line: 'Zeile',
  western:
    'Die Datei ist nicht in UTF-8. Sie ist als Windows-1252 gelesen worden: Bitte sehen Sie nach, ob alle Buchstaben stimmen.',
  checking: 'Die Zeilen werden geprüft …',
  allGood: (count, formatted) =>
    count === 1 ? '1 Buch kann importiert werden.' : `${formatted} Bücher können importiert werden.`,
  nothingGood: 'So kann keine Zeile dieser Datei importiert werden. Vielleicht sind es andere Spalten?',
  badRows: (count, formatted) =>
    count === 1
      ? '1 Zeile ist kein Buch und wird ausgelassen.'
      : `${formatted} Zeilen sind keine Bücher und werden ausgelassen.`,
  skipKnown: 'Bücher auslassen, die schon da sind',
  looking: 'Es wird nachgesehen, welche Bücher schon da sind …',
  known: (count, formatted) =>
    `${books(count, formatted)} ${count === 1 ? 'ist schon da und wird' : 'sind schon da und werden'} ausgelassen (gleich in Titel, Autor und Jahr).`,
  notLooked: (why) => `Es ist nicht bekannt, welche Bücher schon da sind. ${why}`,
  badShown: (formatted) => `Das sind die ersten ${formatted}; der Bericht hat alle.`,
  showBad: 'Zeigen',
  atLine: (line) => `Zeile ${line}`,
  atElement: (element) => `Element ${element}`,
  saveReport: 'Bericht speichern',
  reportName: 'ausgelassene Zeilen',
  reason: 'Grund',
  row: 'Inhalt',
  start: (count, formatted) => `${books(count, formatted)} importieren`,
  cancel: 'Abbrechen',

  progress: (stored, total) => `${stored} von ${total} Büchern`,
  pace: (perSecond) => `${perSecond} in der Sekunde`,
  left: (seconds) => (seconds < 60 ? `noch ${seconds} s` : `noch ${Math.ceil(seconds / 60)} min`),
  phases: {
    sending: 'Die Bücher werden gespeichert.',
    away: 'Der Dienst antwortet nicht. Der Import wartet auf ihn und geht von selbst weiter.',
    doubt:
      'Der Dienst war fort, während Bücher gespeichert wurden. Damit keines doppelt gespeichert wird, sucht der Import erst nach ihnen; das dauert bis zu 15 Sekunden.',
  },
  stop: 'Anhalten',
  stopping: 'Wird angehalten …',

  done: (count, formatted) =>
    count === 1 ? '1 Buch ist gespeichert.' : `${formatted} Bücher sind gespeichert.`,
  leftOut: (count, formatted) =>
    `${count === 1 ? '1 Zeile ist' : `${formatted} Zeilen sind`} ausgelassen. Der Bericht sagt, warum.`,
  skipped: (count, formatted) =>
    count === 1
      ? '1 Buch war schon da und ist ausgelassen.'
      : `${formatted} Bücher waren schon da und sind ausgelassen.`,
  stopped: (stored, total) => `Angehalten: ${stored} von ${total} Büchern sind gespeichert.`,
  doubtful: (first, last) =>
    `Ob die Bücher der Zeilen ${first} bis ${last} gespeichert sind, ist nicht bekannt. Wer weitermacht, findet es heraus und speichert nichts doppelt.`,
  refused: (first, last, why) =>
    `Die Bücher der Zeilen ${first} bis ${last} sind abgelehnt worden, und keines von ihnen ist gespeichert. ${why}`,
  failed: 'Der Import ist zu Ende, weil sich die Datei nicht mehr lesen lässt.',
  goOn: 'Weitermachen',
  undo: 'Import rückgängig machen',
  undoFurther: 'Weiter rückgängig machen',
  undoing: 'Die Bücher dieses Imports werden gelöscht.',
  undone: (count, formatted) =>
    `${books(count, formatted)} dieses Imports ${count === 1 ? 'ist' : 'sind'} gelöscht.`,
  undoLeft: (count, formatted) => `${books(count, formatted)} ${count === 1 ? 'ist' : 'sind'} noch da.`,
  kept: (count, formatted) =>
    count === 1
      ? 'Dieses Buch ist inzwischen geändert worden und bleibt:'
      : `Diese ${formatted} Bücher sind inzwischen geändert worden und bleiben:`,
  lastImport: (count, formatted) =>
    `Der letzte Import hat ${books(count, formatted)} gespeichert. Er lässt sich rückgängig machen.`,
  close: 'Schließen',

  exportBooks: 'Bücher exportieren',
  exported: (count, formatted) =>
    `${books(count, formatted)}: alle, die jetzt gezeigt werden, in dieser Reihenfolge.`,
  exportedSome: 'Alle Bücher, die jetzt gezeigt werden, in dieser Reihenfolge.',
  formats: { csv: 'CSV', json: 'JSON', ndjson: 'NDJSON' },
  formatHints: {
    csv: 'für Tabellenprogramme. Texte, die sie als Formel ausführen würden, bekommen vorn einen Apostroph; ein Import hier nimmt ihn wieder weg.',
    json: 'für Programme: eine Liste',
    ndjson: 'für Programme: in jeder Zeile ein Buch',
  },
  format: 'Als was?',
  save: 'Speichern',
  saving: (count, formatted) => `bisher ${books(count, formatted)}`,
  saved: (count, formatted) => `${books(count, formatted)} ${count === 1 ? 'ist' : 'sind'} gespeichert.`,
  notSaved: (why) => `Nichts ist gespeichert. ${why}`,
  diskFault: 'Die Datei ließ sich nicht schreiben.',
  fileName: 'Bücher',

  faults: {
    'unclosed-quote':
      'In dieser Zeile beginnt ein Anführungszeichen, das nirgends endet; der Rest der Datei lässt sich nicht lesen.',
    'not-utf8': 'Das ist kein UTF-8.',
    'not-json': 'Das ist kein JSON.',
    'not-object': 'Das ist kein Objekt mit Titel, Autor und Jahr.',
    'no-array': 'Hier müsste eine Liste von Büchern beginnen, mit „[“.',
    broken: 'Hier fehlt ein Komma oder das Ende der Liste; der Rest der Datei lässt sich nicht lesen.',
    'cut-off': 'Die Datei endet mitten in der Liste.',
    trailing: 'Was hinter dem Ende der Liste steht, wird nicht gelesen.',
    cells: (found, expected) =>
      `Die Zeile hat ${found === 1 ? '1 Zelle' : `${found} Zellen`}, die erste Zeile ${expected}.`,
    text: (field) => `Der Inhalt von „${FIELDS[field]}“ ist kein Text, der sich speichern lässt.`,
    year: (value) => `Das Jahr ist keine ganze Zahl, die sich speichern lässt: „${value}“`,
    nothing: 'Da ist weder ein Titel noch ein Autor noch ein Jahr.',
    'book-too-long': 'Die Zeile ist länger, als ein Buch sein darf (1 MiB).',
    'row-too-long': 'Die Zeile ist länger als 8 MiB; der Rest der Datei ist vielleicht nicht gelesen.',
  },
};
