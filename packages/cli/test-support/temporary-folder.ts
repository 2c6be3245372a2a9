import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder for one test, gone after it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-cli-'));
  // A hook of this module would only be that of the first file that loads it: files share their modules.
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
