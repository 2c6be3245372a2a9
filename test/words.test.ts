import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

// Wordings that readers stumble over, and what to write instead. They are looked for in Markdown, strings and comments alike.

const root = fileURLToPath(new URL('..', import.meta.url));

const WORDINGS: readonly { readonly pattern: RegExp; readonly better: string }[] = [
  { pattern: /\bunless told\b/i, better: 'Default: X.' },
  { pattern: /\bmend(?:s|ed|ing)?\b/i, better: 'fix, repair' },
  { pattern: /\banew\b/i, better: 'again' },
  { pattern: /\bin vain\b/i, better: 'without success, failed' },
  { pattern: /\bwhat is no\b/i, better: 'not a, invalid' },
  { pattern: /\bfor who\b/i, better: 'for anyone who, for callers' },
  { pattern: /\bshown this once\b/i, better: 'shown only once' },
  { pattern: /\b(?:is|are|was|were|be|been) told\b/i, better: 'receives, is shown, the error reports' },
  { pattern: /\bwhoever\b/i, better: 'callers, clients, operators, the sender' },
  { pattern: /\bstrangers?\b/i, better: 'anonymous caller, unproven peer' },
  { pattern: /\bas ever\b/i, better: 'as before, unchanged' },
  { pattern: /\bgoes on\b/i, better: 'continues' },
  { pattern: /\bcomes to\b/i, better: 'reaches, results in' },
  { pattern: /\bhad come\b/i, better: 'had arrived' },
  { pattern: /\bfor ever\b/i, better: 'forever, endlessly' },
  { pattern: /\b(?:let|lets) go of\b/i, better: 'releases, closes, drops' },
  { pattern: /\bturned down\b/i, better: 'rejected' },
  { pattern: /\b(?:hangs|hung) up\b/i, better: 'disconnects, closes the connection' },
  { pattern: /\bleads to nothing\b/i, better: 'does not exist' },
  { pattern: /\bnobody knows\b/i, better: 'unknown' },
  { pattern: /\bas it stands\b/i, better: 'unchanged, literally' },
  { pattern: /\bkeeps book\b/i, better: 'tracks' },
  { pattern: /\bquick yes\b/i, better: 'fast path' },
  { pattern: /\bworth (?:a|more) words?\b/i, better: 'name the limit instead' },
  {
    pattern:
      /(?<!there )\b(?:is|are|was) no (?:object|text|id|type|JSON|error|part|reason|message|name|number|path)\b/i,
    better: 'is not a …',
  },
];

/** This file names them; decisions and the naughty strings quote what others wrote. */
const EXEMPT = /^(?:test\/words\.test\.ts|docs\/decisions\/|package-lock\.json)/;

test('no text uses a wording that readers stumble over', () => {
  const found = trackedTexts().flatMap((file) => {
    const lines = readFileSync(join(root, file), 'utf8').split('\n');
    return lines.flatMap((line, at) => {
      return WORDINGS.filter(({ pattern }) => pattern.test(line)).map(({ better }) => {
        return `${file}:${at + 1}: ${line.trim().slice(0, 120)} → ${better}`;
      });
    });
  });
  expect(found).toEqual([]);
});

function trackedTexts(): string[] {
  const files = execFileSync('git', ['ls-files', '-z', '--', '*.md', '*.ts', '*.tsx', '*.mjs', '*.json', '*.yaml'], {
    cwd: root,
    encoding: 'utf8',
  });
  return files.split('\0').filter((file) => file !== '' && !EXEMPT.test(file));
}
