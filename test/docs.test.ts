import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseConfig } from '../packages/server/src/config/config.ts';
import { isBlock, readPage } from './docs-run/page.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const pages = [...listed('*.md'), 'llms.txt'];

describe.each(pages)('%s', (page) => {
  const text = readFileSync(join(root, page), 'utf8');

  test('links only to what is there', () => {
    const broken = [...withoutCode(text).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]+)?\)/g)]
      .filter(([, target = '', anchor]) => !existsAt(page, target) || !hasAnchor(page, target, anchor))
      .map(([link]) => link);
    expect(broken).toEqual([]);
  });

  test('names only paths that exist', () => {
    expect(
      inlineCode(text)
        .filter(isPath)
        .filter((path) => !pathExists(path)),
    ).toEqual([]);
  });

  test('names only commands that exist', () => {
    expect(commandsIn(page, text).filter((command) => !commandExists(command))).toEqual([]);
  });
});

test.each(pages)('%s names only commands of dragoman that there are', (page) => {
  const reference = readFileSync(join(root, 'docs/reference/cli.md'), 'utf8');
  const known = new Set([...reference.matchAll(/^## `(\w+)`$/gm)].map(([, name]) => name));
  const text = readFileSync(join(root, page), 'utf8');
  const named = [...text.matchAll(/npx dragoman ([a-z]+)\b(?! …)/g)].map(([, name]) => name);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test.each(pages)('%s shows only configuration that is taken', (page) => {
  for (const text of blocksOf(page, 'yaml')) expect(parseConfig(text), text).toMatchObject({ ok: true });
});

test.each(pages)('%s shows commands that zsh takes as well', (page) => {
  // There a bare ? or [ is a file to be found, and what is typed knows no comments.
  const bare = blocksOf(page, 'sh').map((block) => block.replaceAll(/'[^']*'|"[^"]*"/g, ''));
  expect(bare.flatMap((block) => block.match(/^.*(?:[?[]|\s#).*$/gm) ?? [])).toEqual([]);
});

test('the README shows the two commands, each on its own line', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  expect(readme).toMatch(/^npm ci && npm start$/m);
  expect(readme).toMatch(/^npm ci && npm test$/m);
  expect(readFileSync(join(root, '.ci/run'), 'utf8')).toMatch(/^npm ci && npm test$/m);
});

test('no page speaks of a machine it was written on', () => {
  const own = /(?:^|[\s"'`(])\/(?:home|root|work|Users|tmp)\/\S+/m;
  for (const page of pages) expect(readFileSync(join(root, page), 'utf8'), page).not.toMatch(own);
});

function listed(pattern: string): string[] {
  const options = { cwd: root, encoding: 'utf8' } as const;
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', pattern], options)
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(root, file)));
}

function blocksOf(page: string, language: string): string[] {
  return readPage(page).flatMap((part) => (isBlock(part) && part.language === language ? [part.text] : []));
}

function withoutCode(text: string): string {
  return text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').replaceAll(/`[^`\n]*`/g, '');
}

function inlineCode(text: string): string[] {
  return [...text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}

/** Code that names a place in this repository: below one of its folders, or a file at its root. */
function isPath(code: string): boolean {
  return (
    /^(?:packages|conformance|test|examples|bench|docs|scripts|\.ci)\/[\w./<>{},*-]*$/.test(code) ||
    /^[A-Z]+\.md$/.test(code)
  );
}

/** `<name>` and `*` stand for anything; `{a,b}` for each of them. */
function pathExists(path: string): boolean {
  const braces = /\{([^}]*)\}/.exec(path);
  if (braces !== null) {
    return (braces[1] ?? '').split(',').every((choice) => pathExists(path.replace(braces[0], choice)));
  }
  if (!/[<*]/.test(path)) return existsSync(join(root, path));
  const pattern = path.replaceAll(/<[^>]*>|\*+/g, '*').replace(/\/$/, '/*');
  return listed(pattern).length > 0;
}

function existsAt(page: string, target: string): boolean {
  return existsSync(join(root, dirname(page), target));
}

function hasAnchor(page: string, target: string, anchor: string | undefined): boolean {
  if (anchor === undefined) return true;
  const headings = readFileSync(join(root, dirname(page), target), 'utf8').matchAll(/^#+ (.*)$/gm);
  const slugs = [...headings].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  );
  return slugs.includes(anchor.slice(1));
}

/** Lines of shell blocks and inline code that call npm. */
function commandsIn(page: string, text: string): string[] {
  const blocks = blocksOf(page, 'sh').flatMap((block) => block.split('\n'));
  return [...blocks, ...inlineCode(text)]
    .flatMap((line) => line.split('&&'))
    .map((command) => command.replace(/\s+#.*$/, '').trim())
    .filter((command) => /^npm (?:run |start|test|ci)/.test(command));
}

function commandExists(command: string): boolean {
  if (/^npm ci\b/.test(command)) return true;
  const script = /^npm (?:run (?:--silent |-s )?)?([\w:-]+)/.exec(command)?.[1] ?? '';
  if (!Object.hasOwn(manifest.scripts, script)) return false;
  const benchmark = /^npm run bench -- ([\w-]+)/.exec(command)?.[1];
  return benchmark === undefined || existsSync(join(root, 'bench', `${benchmark}.ts`));
}
