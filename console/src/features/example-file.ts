const CSV = `title,author,year
The Iliad,Homer,-750
Don Quijote,Miguel de Cervantes,1605
Candide,Voltaire,1759
Pride and Prejudice,Jane Austen,1813
Les Misérables,Victor Hugo,1862
War and Peace,Leo Tolstoy,1869
Effi Briest,Theodor Fontane,1895
The Tale of Genji,Murasaki Shikibu,1010
One Thousand and One Nights,,0
`;

/** A file of a few books, to try the import. */
export function exampleFile(): File {
  return new File([CSV], 'example.csv', { type: 'text/csv' });
}
