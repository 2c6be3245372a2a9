import { expect, test } from 'vitest';
import { parseConfig } from './config.ts';
import { parseYaml } from './yaml-text.ts';

test.each([
  ['an open bracket', 'port: [1\nhost: x\n', 2, 1, 'indent it like the lines around it'],
  ['an open quote', 'host: "here\n', 2, 1, 'close the quote'],
  ['a key twice', 'port: 1\nport: 2\n', 2, 1, 'keep one of them'],
  ['a tab', 'wire:\n\tport: 1\n', 2, 1, 'indent with spaces'],
])('%s is reported with its line, its column and the fix', (_, text, line, column, fix) => {
  for (const outcome of [parseConfig(text), parseYaml(text)]) {
    expect(outcome).toMatchObject({
      ok: false,
      issues: expect.arrayContaining([
        expect.objectContaining({
          code: 'not_yaml',
          line,
          column,
          message: expect.stringMatching(new RegExp(`^line ${line}, column ${column}: `)),
          suggestion: expect.stringContaining(fix),
        }),
      ]),
    });
  }
});

test.each(['registry', 'Admin'])('an agent cannot have the reserved name %s', (id) => {
  const text = `agents:\n  echo: { driver: module, module: ./echo.mjs }\n  ${id}: { driver: module, module: ./echo.mjs }\n`;
  expect(parseConfig(text)).toMatchObject({
    ok: false,
    issues: [{ code: 'reserved', line: 3, column: 3, message: expect.stringContaining(JSON.stringify(id)) }],
  });
});

test('an unknown field is reported with its place and the nearest known field', () => {
  expect(parseConfig('host: 127.0.0.1\nagents:\n  echo:\n    drivr: module\n')).toMatchObject({
    ok: false,
    issues: expect.arrayContaining([
      expect.objectContaining({ line: 4, column: 5, suggestion: expect.stringContaining('driver') }),
    ]),
  });
});
