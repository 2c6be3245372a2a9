import { expect, test } from 'vitest';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { outliveStrayErrors } from './stray-errors.ts';

function thrownAt(...places: string[]): Error {
  const error = new Error('oh');
  error.stack = ['Error: oh', ...places.map((place) => `    at something (${place})`)].join('\n');
  return error;
}

const AGENT = 'file:///srv/agents/desk.mjs:3:9';
const LIBRARY = 'file:///srv/agents/node_modules/pg/lib/client.js:1:1';
const CLONE = 'file:///opt/dragoman/packages/core/dist/index.js:10:3';
const INSTALLED = '/srv/node_modules/@dragoman/server/dist/index.js:10:3';
const NODE = 'node:internal/timers:581:17';

test.each<[string, 'rejection' | 'exception', unknown, 0 | 1]>([
  ['of an agent', 'exception', thrownAt(AGENT, NODE), 0],
  ['of an agent that we called', 'exception', thrownAt(NODE, AGENT, CLONE), 0],
  ['of a library of theirs', 'exception', thrownAt(LIBRARY, AGENT, NODE), 0],
  ['of nobody in particular', 'exception', thrownAt(NODE), 0],
  ['that is not an error', 'exception', 'just a text', 0],
  ['of ours, in a clone', 'exception', thrownAt(NODE, CLONE, AGENT), 1],
  ['of ours, where it is installed', 'exception', thrownAt(INSTALLED), 1],
  ['of ours by way of a library', 'exception', thrownAt(LIBRARY, CLONE), 1],
  ['that is a promise of ours, which has harmed nothing else', 'rejection', thrownAt(CLONE), 0],
])('an error %s ends the process or not', (_, kind, error, exits) => {
  const surroundings = new FakeSurroundings();
  const log = new SilentLog();
  const forget = outliveStrayErrors({ ...surroundings, terminal: surroundings.terminal, finish: () => {} }, log);
  surroundings.stray(error, kind);
  expect(surroundings.exits).toEqual(exits === 0 ? [] : [1]);
  expect(log.lines).toHaveLength(1);
  forget();
  expect(surroundings.isListening).toBe(false);
});
