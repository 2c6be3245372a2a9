#!/usr/bin/env node
// The `dragoman` command. Checked in as it is, and in the JavaScript of 2009, so that it can say what is missing where nothing
// else could: every Node can read it, however old. What comes after the check is in start.js.
var OLDEST = [20, 19];
var running = process.versions.node;
var version = running.split('.').map(Number);
var refusal = ['error: Dragoman needs Node', OLDEST.join('.'), 'or newer; this is', running].join(' ');
var remedy = 'install a newer one from https://nodejs.org, or: nvm install 22';

if (version[0] < OLDEST[0] || (version[0] === OLDEST[0] && version[1] < OLDEST[1])) {
  process.stderr.write([refusal, '.\n  → ', remedy, '\n'].join(''));
  process.exitCode = 1;
} else {
  require('./start.js');
}
