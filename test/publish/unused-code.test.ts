import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('no file, export or dependency is there that nobody uses (npx knip)', () => {
  const knip = join(root, 'node_modules/knip/bin/knip.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [knip, '--no-progress', '--no-config-hints'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect({ status, said: `${stdout}${stderr}` }).toEqual({ status: 0, said: '' });
});
