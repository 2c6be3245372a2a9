import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ArtifactText } from './artifact-text.ts';

test('added text is given to the reader, and text that is shown again is not', () => {
  const text = new ArtifactText();
  expect([text.append('ab'), text.append('c'), text.replace('abc'), text.replace('abcd')]).toEqual([
    'ab',
    'c',
    '',
    'd',
  ]);
});

test('a text that starts over is given from where the reader is', () => {
  const text = new ArtifactText();
  text.append('one two');
  expect([text.replace('one'), text.append(' tw'), text.append('o three'), text.append('!')]).toEqual([
    '',
    '',
    ' three',
    '!',
  ]);
});

test('another text is not given, and is what the artifact holds', () => {
  const text = new ArtifactText();
  text.append('draft');
  expect([text.replace('final'), text.append(' text')]).toEqual(['', '']);
  expect(text.text).toBe('final text');
});

test('an old view of the text changes nothing', () => {
  const text = new ArtifactText();
  text.append('one two');
  expect(text.remember('one')).toBe('');
  expect(text.append(' three')).toBe(' three');
  expect(text.text).toBe('one two three');
});

test('however a growing text is cut, shown again and continued, the reader gets it once', () => {
  const words = fc.array(fc.string({ minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 12 });
  const shows = fc.array(fc.constantFrom('append', 'replace', 'remember', 'old'), { minLength: 12, maxLength: 12 });
  fc.assert(
    fc.property(words, shows, (pieces, how) => {
      const text = new ArtifactText();
      let given = '';
      let whole = '';
      pieces.forEach((piece, index) => {
        const before = whole;
        whole += piece;
        const way = how[index];
        if (way === 'old') given += text.remember(before.slice(0, before.length >> 1));
        given += way === 'replace' || way === 'remember' ? text[way](whole) : text.append(piece);
      });
      expect(given).toBe(whole);
      expect(text.text).toBe(whole);
    }),
  );
});
