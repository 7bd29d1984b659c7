import { FIELDS, type Field } from './row.ts';

/** The column, or JSON member, of each field. A field without one is empty, or 0. */
export type Mapping = Readonly<Record<Field, string | undefined>> & {
  /** By default, ids are not read. */
  readonly id?: string | undefined;
};

/** The year in which a work was first published; {@link EDITION_YEARS} are of an edition. */
const ORIGINAL_YEARS =
  namesOf(`original publication year, original year, original year published, original year of publication,
  year originally published, originally published, original publication date, original date published, original date of publication,
  original published, original date, original release date, first publish year, first publication year, year first published,
  year of first publication, first published, first publication, first publication date, date first published, originaljahr,
  erstveröffentlichung, erstveröffentlicht, erstpublikation, jahr der erstveröffentlichung, jahr der erstausgabe, ersterscheinungsjahr,
  année originale, année de publication originale, première parution, date de première parution, première publication,
  año original, año de publicación original, año de primera publicación, primera publicación, anno originale,
  anno di prima pubblicazione, prima pubblicazione, ano original, ano de publicação original, ano da primeira publicação,
  first publish date, year of original publication, publication year original, year of first edition, first edition year,
  eerste uitgave, jaar van eerste uitgave, oorspronkelijk jaar`);

const EDITION_YEARS =
  namesOf(`year, publication year, year published, published year, year of publication, pub year, year pub, publish year,
  year of release, release year, copyright year, year of edition, edition year, imprint year, date of publication, publication date,
  publish date, date published, published date, pub date, date of pub, published, published on, published in, released, release date,
  date released, date of release, year released, publishing year, publishing date, publ year, publ date, yr, pub yr, py, copyright date,
  copyright, imprint date, issued, date issued, date,
  jahr, erscheinungsjahr, jahr der veröffentlichung, veröffentlichungsjahr, publikationsjahr, druckjahr, ausgabejahr, jahr der ausgabe,
  erscheinungsdatum, veröffentlichungsdatum, publikationsdatum, datum der veröffentlichung, erschienen, erschienen am,
  erscheinungstermin, veröffentlicht, jahrgang der ausgabe,
  année, année de publication, année de parution, année publication, année parution, année d'édition, année édition, année de sortie,
  date de parution, date de publication, date parution, date publication, date d'édition, date de sortie, parution, publié en,
  publié le, paru en,
  año, año de publicación, año publicación, año de edición, año edición, año de lanzamiento, fecha de publicación, fecha publicación,
  fecha de edición, fecha de lanzamiento, publicado, publicado en,
  anno, anno di pubblicazione, anno pubblicazione, anno di edizione, anno edizione, anno di uscita, anno di stampa,
  data di pubblicazione, data pubblicazione, data di uscita, data uscita, pubblicato, pubblicato nel,
  ano, ano de publicação, ano publicação, ano da publicação, ano de edição, ano da edição, ano edição, ano de lançamento,
  data de publicação, data da publicação, data publicação, data de lançamento,
  jaar, jaar van uitgave, jaar uitgave, uitgavejaar, jaar van publicatie, publicatiejaar, verschijningsjaar, jaar van verschijning,
  publicatiedatum, uitgavedatum, verschijningsdatum, datum van uitgave,
  rok, rok wydania, rok publikacji, data wydania, data publikacji, rok vydání, rok publikace, datum vydání,
  utgivningsår, utgivningsdatum, publiceringsår, udgivelsesår, udgivelsesdato, utgivelsesår, utgivelsesdato, udgivet, utgitt, utgiven, år,
  årstal, julkaisuvuosi,
  ilmestymisvuosi, vuosi, év, kiadás éve, megjelenés éve, yıl, basım yılı, yayın yılı,
  godina, godina izdanja, leto, leto izida, anul apariției, anul publicării, έτος, έτος έκδοσης, година, година на издаване,
  السنة, سنة النشر, تاريخ النشر, سال, سال انتشار, שנה, שנת הוצאה, שנת פרסום, ปี, ปีที่พิมพ์, năm, năm xuất bản, tahun, tahun terbit,
  год, год издания, год публикации, год выпуска, год выхода, дата публикации, дата издания, дата выхода, рік, рік видання,
  年, 年份, 出版年, 出版年份, 出版年度, 出版年月, 出版日期, 出版时间, 出版時間, 出版日, 发行年, 發行年, 発行年, 発行年月, 発行日, 発売日, 刊行年, 刊年,
  출판년도, 출판연도, 출판년, 출판일, 발행년도, 발행연도, 발행년, 발행일, 출간일, 연도, 264c, 260c`);

/** The most likely first, in several languages and in the files of other programs. */
const NAMES: Readonly<Record<Field, readonly string[]>> = {
  title:
    namesOf(`title, book title, title of the book, title of book, main title, full title, title proper, title statement, titles, booktitles,
    titel, buchtitel, titel des buches, haupttitel, werktitel, titre, titre du livre, titre de l'ouvrage, titre principal, intitulé,
    título, título del libro, título de la obra, título principal, titolo, titolo del libro, titolo dell'opera, titolo principale,
    título do livro, título da obra, boektitel, titel van het boek, hoofdtitel, tytuł, tytuł książki, název, název knihy, názov, titul,
    bogtitel, boktitel, bokens titel, tittel, boktittel, naslov, naslov knjige, judul, judul buku, tên sách, ชื่อเรื่อง, ชื่อหนังสือ,
    nimeke, teoksen nimi, kirjan nimi, cím, könyv címe, kitap adı, başlık, titlu,
    название, название книги, заглавие, наименование, назва, назва книги, τίτλος, عنوان, العنوان, عنوان الكتاب, כותר, שם הספר,
    书名, 書名, 题名, 題名, 标题, 標題, 图书名称, 圖書名稱, タイトル, 本のタイトル, 書籍名, 서명, 도서명, 제목, 책 제목, 책제목,
    original title, originaltitel, titre original, título original, titolo originale, 245a, ti, item label, book label, work label, name,
    book name`),
  author:
    namesOf(`author, authors, author name, author names, authors name, author full name, name of author, name of the author, primary author,
    main author, first author, book author, book authors, author text, creator, creators, writer, writers, by, written by,
    author creator, creator author, author label, au, author last first, author last name first name, author lf, author sort, author l-f,
    author fl,
    autor, autoren, autorin, autorinnen, autor oder autorin, autor autorin, autorname, name des autors, verfasser, verfasserin,
    verfasserinnen,
    verfassername, urheber, schriftsteller, auteur, auteurs, auteure, auteur·rice, auteur·trice, autrice, auteur principal, nom de
    l'auteur, écrivain,
    autora, autores, autoras, nombre del autor, autor principal, autor personal, escritor, autore, autori, autorei, nome dell'autore,
    autore principale, scrittore, nome do autor, autor ou autora, schrijver, schrijvers, naam auteur, naam schrijver, autorzy, autor
    książki,
    autoři, författare, forfatter, forfattere, tekijä, tekijät, kirjailija, kirjoittaja, szerző, szerzők, yazar, yazarlar,
    avtor, penulis, pengarang, tác giả, ผู้แต่ง, نویسنده,
    автор, авторы, автор книги, автори, συγγραφέας, المؤلف, مؤلف, מחבר, סופר,
    作者, 著者, 著者名, 作者名, 作家, 责任者, 責任者, 编著者, 編著者, 著作者, 저자, 저자명, 지은이, 작가, 글쓴이, 100a`),
  year: [...ORIGINAL_YEARS, ...EDITION_YEARS],
};

/** What schemas and databases put before a name: `dc:title`, `books.title`, `volumeInfo.title`, `work.author_names`. */
const PREFIXES = /^(?:(?:dcterms|dc|books?|works?|volumeinfo|node|data)(?=.)|b[._ ])/i;

/**
 * Guesses columns by their whole names. Beside a title such as `work.title`, the other fields are of the same object.
 *
 * @param given fields that are not guessed; their columns are not used for others
 */
export function guessMapping(columns: readonly string[], given: Partial<Mapping> = {}): Mapping {
  const mapping: Partial<Record<Field | 'id', string | undefined>> = { ...given };
  let candidates = columns;
  for (const field of FIELDS) {
    if (!(field in given)) mapping[field] = findColumn(candidates, NAMES[field], Object.values(mapping));
    if (field !== 'title') continue;
    const object = /^.*\./.exec(mapping.title ?? '')?.[0] ?? '';
    candidates = columns.filter((column) => column.startsWith(object));
  }
  return mapping as Mapping;
}

/**
 * For an update by JSON: a field without a member in the first objects is read from the member with its own name, which may first occur
 * later; where an object lacks it, the field stays as it is stored.
 *
 * @param omitted fields that are not read
 */
export function withLaterMembers(mapping: Mapping, omitted: readonly Field[] = []): Mapping {
  const used = Object.values(mapping).map((name) => name?.toLowerCase());
  const later = FIELDS.filter(
    (field) => mapping[field] === undefined && !omitted.includes(field) && !used.includes(field),
  );
  return { ...mapping, ...Object.fromEntries(later.map((field) => [field, field])) };
}

/** The column that has the first of these names, with a known prefix or without. */
function findColumn(
  columns: readonly string[],
  names: readonly string[],
  used: readonly (string | undefined)[],
): string | undefined {
  const free = columns.filter((column) => !used.includes(column));
  const normalized = free.map(normalize);
  for (const known of [normalized, free.map((name) => normalize(name.replace(PREFIXES, '')))]) {
    const name = names.find((candidate) => known.includes(candidate));
    if (name !== undefined) return free[known.indexOf(name)];
  }
  return undefined;
}

/**
 * The column of the year for rows in which that of `mapping` is empty: Goodreads has the original year of some books only,
 * and the year of the edition of nearly all.
 */
export function otherYearColumn(columns: readonly string[], { year = '' }: Mapping): string | undefined {
  return ORIGINAL_YEARS.includes(normalize(year)) ? findColumn(columns, EDITION_YEARS, [year]) : undefined;
}

function namesOf(list: string): string[] {
  return list.split(',').map(normalize);
}

/** The letters and digits of a name, without case and accents. */
function normalize(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll('ı', 'i')
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}
