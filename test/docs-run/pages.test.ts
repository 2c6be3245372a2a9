import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isBlock, ROOT, readPage } from './page.ts';
import { Lacking, PageRun } from './page-run.ts';
import { contributorFolder, readerFolder } from './reader-folder.ts';

const FOLDERS = ['docs/quick-start', 'docs/how-to'];
const pages = [
  ...FOLDERS.flatMap((folder) => readdirSync(ROOT + folder).map((file) => `${folder}/${file}`)),
  'CONTRIBUTING.md',
];

describe.concurrent('the commands of a page', { timeout: 300_000 }, () => {
  test.for(pages)('%s', async (page, { skip }) => {
    await using run = new PageRun(page === 'CONTRIBUTING.md' ? contributorFolder : readerFolder);
    for (const part of readPage(page)) {
      try {
        await run.follow(part);
      } catch (error) {
        if (error instanceof Lacking) skip(`${error.message} is not installed`);
        throw new Error(`${page}:${part.line}: ${error instanceof Error ? error.message : error}`);
      }
    }
  });
});

test.each(pages)('%s marks every command as run or not', (page) => {
  const unmarked = readPage(page).filter((part) => isBlock(part) && part.language === 'sh' && !VERBS.has(part.does));
  expect(unmarked).toEqual([]);
});

test.each(pages)('%s names every file it shows', (page) => {
  const unnamed = readPage(page).flatMap((part) => {
    const file = isBlock(part) ? part.settings['file'] : undefined;
    return file === undefined || (isBlock(part) && part.prose.includes(basename(file))) ? [] : [file];
  });
  expect(unnamed).toEqual([]);
});

const VERBS: ReadonlySet<string | undefined> = new Set(['run', 'serve', 'shown']);
