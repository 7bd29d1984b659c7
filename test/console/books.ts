import type { BookFields } from '../../client/index.ts';
import type { Service } from '../../testkit/service.ts';

/** Books in the public domain. */
export const CLASSICS: readonly BookFields[] = [
  ['The Iliad', 'Homer', -750],
  ['The Odyssey', 'Homer', -725],
  ['Meditations', 'Marcus Aurelius', 180],
  ['Robinson Crusoe', 'Daniel Defoe', 1719],
  ["Gulliver's Travels", 'Jonathan Swift', 1726],
  ['Candide', 'Voltaire', 1759],
  ['Die Leiden des jungen Werthers', 'Johann Wolfgang von Goethe', 1774],
  ['Sense and Sensibility', 'Jane Austen', 1811],
  ['Pride and Prejudice', 'Jane Austen', 1813],
  ['Emma', 'Jane Austen', 1815],
  ['Frankenstein', 'Mary Shelley', 1818],
  ['Persuasion', 'Jane Austen', 1817],
  ['Le Rouge et le Noir', 'Stendhal', 1830],
  ['Jane Eyre', 'Charlotte Brontë', 1847],
  ['Wuthering Heights', 'Emily Brontë', 1847],
  ['Vanity Fair', 'William Makepeace Thackeray', 1848],
  ['David Copperfield', 'Charles Dickens', 1850],
  ['Moby-Dick', 'Herman Melville', 1851],
  ['Walden', 'Henry David Thoreau', 1854],
  ['Madame Bovary', 'Gustave Flaubert', 1857],
  ['Great Expectations', 'Charles Dickens', 1861],
  ['Les Misérables', 'Victor Hugo', 1862],
  ['Crime and Punishment', 'Fyodor Dostoevsky', 1866],
  ['War and Peace', 'Leo Tolstoy', 1869],
  ['Middlemarch', 'George Eliot', 1871],
  ['Anna Karenina', 'Leo Tolstoy', 1878],
  ['Treasure Island', 'Robert Louis Stevenson', 1883],
  ['Adventures of Huckleberry Finn', 'Mark Twain', 1885],
  ['The Picture of Dorian Gray', 'Oscar Wilde', 1890],
  ['Effi Briest', 'Theodor Fontane', 1895],
  ['The Time Machine', 'H. G. Wells', 1895],
  ['Dracula', 'Bram Stoker', 1897],
  ['Heart of Darkness', 'Joseph Conrad', 1899],
  ['Buddenbrooks', 'Thomas Mann', 1901],
  ['The Call of the Wild', 'Jack London', 1903],
  ['A Room with a View', 'E. M. Forster', 1908],
  ['Der Tod in Venedig', 'Thomas Mann', 1912],
  ['Du côté de chez Swann', 'Marcel Proust', 1913],
  ['Die Verwandlung', 'Franz Kafka', 1915],
  ['The Age of Innocence', 'Edith Wharton', 1920],
  ['Ulysses', 'James Joyce', 1922],
  ['Mrs Dalloway', 'Virginia Woolf', 1925],
  ['To the Lighthouse', 'Virginia Woolf', 1927],
].map(([title = '', author = '', year = 0]) => ({
  title: String(title),
  author: String(author),
  year: Number(year),
}));

/** Stores books, 10,000 per request. In a new store, their ids start at 1. */
export async function store(service: Service, books: readonly BookFields[]): Promise<void> {
  for (let start = 0; start < books.length; start += 10_000) {
    await service.fetch('POST', '/books', JSON.stringify(books.slice(start, start + 10_000)));
  }
}

/** The stored book; undefined when there is none. */
export async function findBook(
  service: Service,
  id: number,
): Promise<(BookFields & { id: number }) | undefined> {
  const response = await service.fetch('GET', `/book/${id}`);
  const { data } = (await response.json()) as { data: BookFields & { id: number } };
  return response.ok ? data : undefined;
}

/** Books of 20 decades up to the 1990s, with different titles. */
export function manyBooks(count: number): BookFields[] {
  return Array.from({ length: count }, (_, index) => ({
    title: `Volume ${index + 1}`,
    author: CLASSICS[index % CLASSICS.length]?.author ?? '',
    year: 1800 + (index % 200),
  }));
}
