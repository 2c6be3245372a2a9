import { spelledOut } from './spelled-out.ts';

/** The words by which a text is found: in lower case, without common words, and reduced to their stems. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [word] of spelledOut(text)
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+/gu)) {
    if (!COMMON.has(word)) words.push(stemOf(word));
  }
  return words;
}

/** A rough stem: the forms of one English word have the same stem, and different words rarely do. */
export function stemOf(word: string): string {
  if (word.length < 4) return word;
  let stem = word.replace(/ies$/, 'y').replace(/(ss|x|ch|sh)es$/, '$1');
  if (stem === word) stem = word.replace(/([^s])s$/, '$1');
  const cut = stem.replace(/(?:ing|ed)$/, '');
  // "ring" is not a form of "r", nor "need" of "ne".
  if (cut.length >= 3 && cut !== stem) stem = cut.replace(/([^aeiouls])\1$/, '$1');
  return stem.length > 3 ? stem.replace(/e$/, '') : stem;
}

const COMMON: ReadonlySet<string> = new Set(
  (
    'a an and any are as at be been by can could did do does for from had has have how i if in into is it its just let me my ' +
    'of on or our please should so some such than that the their them then there these they this those to us use was we ' +
    'were what when where which who whose why will with would you your'
  ).split(' '),
);
