import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { guessMapping, otherYearColumn } from '../../formats/mapping.ts';

describe('guessMapping', () => {
  test('finds the columns by their names, in several languages', () => {
    for (const [columns, mapping] of [
      ['id;title;author;year', ['title', 'author', 'year']],
      ['Titel;Autor;Jahr', ['Titel', 'Autor', 'Jahr']],
      ['YEAR;Author(s);Book Title', ['Book Title', 'Author(s)', 'YEAR']],
      ['Título;Autor;Año', ['Título', 'Autor', 'Año']],
      ['titre;auteur;année', ['titre', 'auteur', 'année']],
      [
        'book_id;original_title;Verfasser;Erscheinungsjahr',
        ['original_title', 'Verfasser', 'Erscheinungsjahr'],
      ],
      ['creators;title;publish_date', ['title', 'creators', 'publish_date']],
      ['Title;By;Release Date', ['Title', 'By', 'Release Date']],
      ['Title;Authors;date_published', ['Title', 'Authors', 'date_published']],
      ['Title;Author;Date of Publication', ['Title', 'Author', 'Date of Publication']],
      ['Title;Author;Copyright', ['Title', 'Author', 'Copyright']],
      ['Título;Autor/a;Año de publicación', ['Título', 'Autor/a', 'Año de publicación']],
      ['Titre;Auteur(s);Date de parution', ['Titre', 'Auteur(s)', 'Date de parution']],
      ['Titel;Autor(en);Erscheinungsdatum', ['Titel', 'Autor(en)', 'Erscheinungsdatum']],
      ['Titolo;Autore/i;Anno di pubblicazione', ['Titolo', 'Autore/i', 'Anno di pubblicazione']],
      ['Título;Autor(a);Ano de publicação', ['Título', 'Autor(a)', 'Ano de publicação']],
      ['书名;作者;出版年', ['书名', '作者', '出版年']],
      ['タイトル;著者;発行年', ['タイトル', '著者', '発行年']],
      ['제목;저자;출판년도', ['제목', '저자', '출판년도']],
      ['Название;Автор;Год издания', ['Название', 'Автор', 'Год издания']],
      ['KİTAP ADI;YAZAR;YAYIN YILI', ['KİTAP ADI', 'YAZAR', 'YAYIN YILI']],
      ['dc:title;dc.creator;dc:date', ['dc:title', 'dc.creator', 'dc:date']],
      [
        'dcterms:title;dcterms:creator;dcterms:issued',
        ['dcterms:title', 'dcterms:creator', 'dcterms:issued'],
      ],
      ['item;itemLabel;authorLabel;publicationDate', ['itemLabel', 'authorLabel', 'publicationDate']],
      ['AU;TI;PY', ['TI', 'AU', 'PY']],
      ['Tittel;Forfatter;Utgitt', ['Tittel', 'Forfatter', 'Utgitt']],
      ['Naslov;Autor;Godina izdanja', ['Naslov', 'Autor', 'Godina izdanja']],
      ['Τίτλος;Συγγραφέας;Έτος έκδοσης', ['Τίτλος', 'Συγγραφέας', 'Έτος έκδοσης']],
      ['العنوان;المؤلف;سنة النشر', ['العنوان', 'المؤلف', 'سنة النشر']],
      ['Tên sách;Tác giả;Năm xuất bản', ['Tên sách', 'Tác giả', 'Năm xuất bản']],
      ['ชื่อเรื่อง;ผู้แต่ง;ปีที่พิมพ์', ['ชื่อเรื่อง', 'ผู้แต่ง', 'ปีที่พิมพ์']],
      ['Judul;Penulis;Tahun Terbit', ['Judul', 'Penulis', 'Tahun Terbit']],
      ['Book-Title;Book-Author;Year-Of-Publication', ['Book-Title', 'Book-Author', 'Year-Of-Publication']],
      [
        'date;work;work.title;work.author_names;work.first_publish_year',
        ['work.title', 'work.author_names', 'work.first_publish_year'],
      ],
      ['Author (Last, First);Title;Year', ['Title', 'Author (Last, First)', 'Year']],
    ] as const) {
      const [title, author, year] = mapping;
      assert.deepEqual(guessMapping(columns.split(';')), { title, author, year }, columns);
    }
  });

  test('prefers the original year to that of the edition', () => {
    for (const [columns, year, other] of [
      ['authors;original_publication_year;original_title;title', 'original_publication_year', undefined],
      [
        'Title;Author;Year Published;Original Publication Year',
        'Original Publication Year',
        'Year Published',
      ],
      ['Title;Author;Year;First Published', 'First Published', 'Year'],
      ['Title;Author;Date;Publication Year', 'Publication Year', undefined],
    ] as const) {
      const mapping = guessMapping(columns.split(';'));
      assert.deepEqual([mapping.year, otherYearColumn(columns.split(';'), mapping)], [year, other], columns);
    }
  });

  test('guesses no column by a part of its name', () => {
    for (const [columns, mapping] of [
      ['isbn;pages', [undefined, undefined, undefined]],
      ['Title;Author;Year Read', ['Title', 'Author', undefined]],
      ['Title;Author;Author Birth Year', ['Title', 'Author', undefined]],
      ['Title;Author First Name;Author Last Name;Year', ['Title', undefined, 'Year']],
      ['Series Title;Author;Year', [undefined, 'Author', 'Year']],
      ['Title;Author;Date Added;Date Read;Year Acquired', ['Title', 'Author', undefined]],
      ['Subtitle;Authority;Yearly', [undefined, undefined, undefined]],
      ['b.title;a.name;b.year', ['b.title', undefined, 'b.year']],
      ['Title;Author;byear;bdate', ['Title', 'Author', undefined]],
    ] as const) {
      const [title, author, year] = mapping;
      assert.deepEqual(guessMapping(columns.split(';')), { title, author, year }, columns);
    }
  });
});
