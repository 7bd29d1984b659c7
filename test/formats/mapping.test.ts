import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { guessMapping } from '../../src/formats/mapping.ts';

describe('guessMapping', () => {
  test('finds the columns by their names, in several languages', () => {
    for (const [columns, mapping] of [
      ['id,title,author,year', ['title', 'author', 'year']],
      ['Titel;Autor;Jahr', ['Titel', 'Autor', 'Jahr']],
      ['YEAR;Author(s);Book Title', ['Book Title', 'Author(s)', 'YEAR']],
      ['Título;Autor;Año', ['Título', 'Autor', 'Año']],
      ['titre;auteur;année', ['titre', 'auteur', 'année']],
      [
        'authors,original_publication_year,original_title,title',
        ['title', 'authors', 'original_publication_year'],
      ],
      [
        'book_id,original_title,Verfasser,Erscheinungsjahr',
        ['original_title', 'Verfasser', 'Erscheinungsjahr'],
      ],
      ['isbn,pages', [undefined, undefined, undefined]],
    ] as const) {
      const [title, author, year] = mapping;
      assert.deepEqual(guessMapping(columns.split(/[,;]/)), { title, author, year }, columns);
    }
  });
});
