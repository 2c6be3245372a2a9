// Loads the built command, or reports what is missing.
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

const entry = join(__dirname, '../dist/main-entry.js');
const root = join(__dirname, '../../..');

if (!existsSync(entry)) {
  refuse('Dragoman is not built yet.', `npm run build   (in ${root})`);
} else {
  import(pathToFileURL(entry).href).catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    refuse(`A part of Dragoman is missing: ${error.message}`, `npm ci   (in ${root})`);
  });
}

function refuse(what, fix) {
  process.stderr.write(`error: ${what}\n  → ${fix}\n`);
  process.exitCode = 1;
}
