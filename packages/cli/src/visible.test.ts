import { expect, test } from 'vitest';
import { FakeSurroundings } from '../test-support/fake-surroundings.ts';
import { paint } from './paint.ts';
import { visible, visibleTerminal } from './visible.ts';

const HOSTILE = {
  'an escape sequence': ['\u001b[2J', '\\u{1b}[2J'],
  'a carriage return': ['safe\revil', 'safe\\u{d}evil'],
  'a bell and a backspace': ['\u0007\b', '\\u{7}\\u{8}'],
  'a C1 control': ['\u009b1m', '\\u{9b}1m'],
  DEL: ['\u007f', '\\u{7f}'],
  'a bidi override': ['\u202egnp.exe', '\\u{202e}gnp.exe'],
  'a bidi isolate': ['\u2066x\u2069', '\\u{2066}x\\u{2069}'],
  'a bidi mark': ['\u200e\u200f\u061c', '\\u{200e}\\u{200f}\\u{61c}'],
  'zero-width characters': ['a\u200bb\u200cc\u200dd\ufeff\u2060', 'a\\u{200b}b\\u{200c}c\\u{200d}d\\u{feff}\\u{2060}'],
  'tag characters': ['\u{e0001}\u{e0041}', '\\u{e0001}\\u{e0041}'],
  'variation selectors that nobody sees': ['\u{e0100}', '\\u{e0100}'],
  'line separators': ['\u2028\u2029', '\\u{2028}\\u{2029}'],
  'half a character': ['\ud83d', '\\u{d83d}'],
} as const;

test.each(Object.entries(HOSTILE))('%s is made visible', (_name, [text, shown]) => {
  expect(visible(text)).toBe(shown);
});

test('line ends, tabs and every script stay', () => {
  const text = 'a\n\tü 漢字 👋 עברית ❤️\n';
  expect(visible(text)).toBe(text);
  expect(visible('one\r\ntwo')).toBe('one\ntwo');
});

test.each(Object.entries(HOSTILE))(
  '%s in JSON is escaped where it is printed, and the JSON stays the same',
  (_name, [text]) => {
    const surroundings = new FakeSurroundings();
    const value = { name: text, ключ: '漢字' };
    visibleTerminal(surroundings.terminal).out(`${JSON.stringify(value)}\n`);
    expect(JSON.parse(surroundings.out)).toEqual(value);
    expect(visible(surroundings.out)).toBe(surroundings.out);
    expect(surroundings.out).toContain('漢字');
  },
);

test('our own colours pass, and no other sequence does', () => {
  const surroundings = new FakeSurroundings();
  const { out, note } = visibleTerminal(surroundings.terminal);
  out(paint(true).red('x'));
  note('\u001b]0;title\u0007\u001b[31m\u001b[31;1m');
  expect(surroundings.out).toBe('\u001b[31mx\u001b[39m');
  expect(surroundings.notes).toBe('\\u001b]0;title\\u0007\u001b[31m\\u001b[31;1m');
});
