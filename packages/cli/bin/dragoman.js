#!/usr/bin/env node
// The `dragoman` command. Checked in as it is, in plain old JavaScript, so that it can say what is missing where nothing
// else could: on a Node that is too old, or before the first build.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const OLDEST = [20, 19];
const entry = new URL('../dist/main-entry.js', import.meta.url);
const root = fileURLToPath(new URL('../../..', import.meta.url));

if (isTooOld(process.versions.node)) {
  refuse(
    `Dragoman needs Node ${OLDEST.join('.')} or newer; this is ${process.versions.node}.`,
    'install a newer one from https://nodejs.org, or: nvm install 22',
  );
} else if (!existsSync(entry)) {
  refuse('Dragoman is not built yet.', `npm run build   (in ${root})`);
} else {
  import(entry.href).catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    refuse(`A part of Dragoman is missing: ${error.message}`, `npm ci   (in ${root})`);
  });
}

function isTooOld(version) {
  const [major, minor] = version.split('.').map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}

function refuse(what, fix) {
  process.stderr.write(`error: ${what}\n  → ${fix}\n`);
  process.exitCode = 1;
}
