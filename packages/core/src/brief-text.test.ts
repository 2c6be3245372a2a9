import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BriefWriter, textBetween, wholeText } from './brief-text.ts';

test('a part that comes again is left out, and put back', () => {
  const writer = new BriefWriter();
  const long = 'é,'.repeat(1000);
  writer.add('{"a":[');
  const { place } = writer;
  writer.add(`${long}],"b":[`);
  writer.repeat(place + 2, place + long.length);
  writer.repeat(place, place + 2);
  writer.add(']}');
  const brief = writer.end();
  expect(brief).toEqual({ text: `{"a":[${long}],"b":[]}`, repeats: expect.any(String) });
  expect(wholeText(brief)).toBe(`{"a":[${long}],"b":[${long.slice(2)}${long.slice(0, 2)}]}`);
});

test('where little would be saved nothing is left out', () => {
  const written = (length: number) => {
    const writer = new BriefWriter();
    writer.add('x'.repeat(2000));
    writer.repeat(0, length);
    return writer.end();
  };
  expect(written(1023)).toBe('x'.repeat(3023));
  expect(wholeText(written(1024))).toBe('x'.repeat(3024));
  expect(typeof written(1024)).toBe('object');
});

test('how it is kept stays the same: what is in a database has to be read', () => {
  const writer = new BriefWriter();
  writer.add('.'.repeat(100_000));
  writer.repeat(0, 31);
  writer.repeat(1, 1025);
  expect(writer.end()).toMatchObject({ repeats: 'PeQ3PeQ3O0odQ3PP1' });
  expect(wholeText({ text: 'abcdef', repeats: '421044' })).toBe('abcdcabcdef');
});

test('whatever is added and repeated, between whatever, comes out whole', () => {
  const part = fc.record({ text: fc.string({ unit: 'binary' }), from: fc.nat(100), length: fc.nat(50) });
  fc.assert(
    fc.property(fc.array(part), fc.string(), fc.string(), (parts, head, tail) => {
      const writer = new BriefWriter();
      const source = 'the source of what is repeated '.repeat(50);
      writer.add(source);
      let whole = source;
      for (const { text, from, length } of parts) {
        writer.add(text);
        writer.repeat(from, from + length);
        whole += text + source.slice(from, from + length);
      }
      writer.repeat(0, source.length);
      expect(wholeText(textBetween(head, writer.end(), tail))).toBe(head + whole + source + tail);
    }),
  );
});
