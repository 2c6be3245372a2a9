import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BriefWriter, briefBetween, wholeText } from './brief-text.ts';

test('a part that comes again is left out, and put back', () => {
  const writer = new BriefWriter();
  const long = 'é,'.repeat(1000);
  writer.add('{"a":[');
  const { place } = writer;
  writer.add(long);
  writer.add('],"b":[');
  writer.repeat(long.slice(2), place + 2);
  writer.repeat(long.slice(0, 2), place);
  writer.add(']}');
  expect(writer.whole).toBe(`{"a":[${long}],"b":[${long.slice(2)}${long.slice(0, 2)}]}`);
  expect(writer.brief?.text).toBe(`{"a":[${long}],"b":[]}`);
  expect(writer.brief && wholeText(writer.brief)).toBe(writer.whole);
});

test('where little would be saved there is no brief text', () => {
  const writer = new BriefWriter();
  writer.add('x'.repeat(1023));
  writer.repeat('x'.repeat(1023), 0);
  expect(writer.brief).toBeUndefined();
  writer.repeat('x', 0);
  expect(writer.brief && wholeText(writer.brief)).toBe('x'.repeat(2047));
});

test('whatever is added and repeated, between whatever, comes out whole', () => {
  const part = fc.record({ text: fc.string({ unit: 'binary' }), from: fc.nat(100), length: fc.nat(50) });
  fc.assert(
    fc.property(fc.array(part), fc.string(), fc.string(), (parts, head, tail) => {
      const writer = new BriefWriter();
      const source = 'the source of what is repeated '.repeat(50);
      writer.add(source);
      for (const { text, from, length } of parts) {
        writer.add(text);
        writer.repeat(source.slice(from, from + length), from);
      }
      writer.repeat(source, 0);
      const { brief } = writer;
      expect(brief && wholeText(briefBetween(head, brief, tail))).toBe(head + writer.whole + tail);
    }),
  );
});
