import { expect, test } from 'vitest';
import { asWritten, queryWords, WordIndex } from './word-index.ts';
import { wordsOf } from './words.ts';

const ALL = new Set(['orders', 'users', 'weather']);

function filled(): WordIndex {
  const index = new WordIndex();
  index.put('orders', 'Lists the orders of a user. An order has lines.');
  index.put('users', 'Lists the users.');
  index.put('weather', 'Tells whether it rains.');
  return index;
}

test('a text is found by the words it has, the rarer the better', () => {
  const hits = filled().search('which order did the user make', ALL);
  expect([...hits.keys()].sort()).toEqual(['orders', 'users']);
  expect(hits.get('orders')?.score).toBeGreaterThan(hits.get('users')?.score ?? 0);
  expect(hits.get('orders')?.words).toEqual(['order', 'user']);
});

test('only the searched texts are counted: a score reveals nothing of texts its reader may not see', () => {
  const among = new Set(['orders', 'weather']);
  const alone = filled();
  alone.remove('users');
  expect(filled().search('user order', among)).toEqual(alone.search('user order', among));
  expect(filled().search('user order', ALL)).not.toEqual(alone.search('user order', among));
});

test('replaced and removed entries are not found by their old words', () => {
  const index = filled();
  index.put('users', 'Counts visits.');
  index.remove('weather');
  expect(index.search('user rain visit', ALL)).toEqual(
    index.search('user visit', new Set(['orders', 'users', 'weather'])),
  );
  expect([...index.search('rain', ALL).keys()]).toEqual([]);
  expect([...index.search('visit', ALL).keys()]).toEqual(['users']);
});

test('nothing is found among nothing, and by no words', () => {
  expect(filled().search('orders', new Set()).size).toBe(0);
  expect(filled().search('what is it', ALL).size).toBe(0);
  expect(filled().search('__proto__ constructor', ALL).size).toBe(0);
});

test.each([
  ['GetCurrentDateTime', ['get', 'current', 'dat', 'tim']],
  ['/order-lines/{id}', ['order', 'lin', 'id']],
  ['Invoices, invoicing: invoiced!', ['invoic', 'invoic', 'invoic']],
  ['stopped cities boxes rings need', ['stop', 'city', 'box', 'ring', 'need']],
  ['Übergröße 数量', ['übergröß', '数量']],
])('the words of %j', (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

test('a related word counts less than the word itself, and is marked as related', () => {
  const index = new WordIndex();
  index.put('exact', 'An invoice.');
  index.put('related', 'The bill.');
  index.put('neither', 'A zebra.');
  const all = new Set(['exact', 'related', 'neither']);
  const hits = index.search('invoice', all, 0.5);
  expect([...hits]).toEqual([
    ['exact', { score: expect.any(Number), words: ['invoic'], related: [] }],
    ['related', { score: expect.any(Number), words: [], related: ['bill'] }],
  ]);
  expect(hits.get('exact')?.score).toBeCloseTo(2 * (hits.get('related')?.score ?? 0));
  expect([...index.search('invoice', all).keys()]).toEqual(['exact']);
});

test('a hit has the words as they were written', () => {
  expect(asWritten('Paid Invoices, invoice', ['invoic'])).toEqual(['invoices', 'invoice']);
});

test('an index for one query remembers no other word, and finds what a whole one does', () => {
  const texts = [
    'send a mail to Ada',
    'a letter that was delivered twice, and posted',
    'nothing of the kind',
    'mail mail',
  ];
  const query = 'sending mails';
  const [whole, brief] = [new WordIndex(), new WordIndex(queryWords(query))];
  for (const index of [whole, brief]) for (const text of texts) index.put(text, text);
  const keys = new Set(texts);
  expect(whole.search(query, keys, 0.5).size).toBe(3);
  expect(brief.search(query, keys, 0.5)).toEqual(whole.search(query, keys, 0.5));
  expect(whole.search('Ada', keys).size).toBe(1);
  expect(brief.search('Ada', keys).size).toBe(0);
});
