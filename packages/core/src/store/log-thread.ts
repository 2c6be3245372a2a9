import { parentPort, workerData } from 'node:worker_threads';
import { errorData } from './sqlite-committer.ts';
import { engineOf, faultOf } from './sqlite-engine.ts';
import type { ErrorData, MoverSetup, ToMover } from './sqlite-messages.ts';

// The thread that moves a long write-ahead log into the database while the thread that owns it goes on writing. SQLite has one
// move at a time, of what was in the log when it began, and writers wait for none.

if (parentPort === null) throw new Error('log-thread.ts runs in a worker only');
const port = parentPort;
const { path, engine: module }: MoverSetup = workerData;
const engine = await engineOf(module);

port.on('message', (told: ToMover) => {
  if (told === 'close') port.close();
  else port.postMessage(move());
});

/** Why the store cannot go on: what is not known to be on the disk cannot be relied on. */
function move(): ErrorData | null {
  try {
    const database = engine.open(path);
    try {
      database.exec('PRAGMA synchronous = FULL');
      // A log is opened by the first who reads.
      database.prepare('PRAGMA user_version').get();
      database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
    } finally {
      database.close();
    }
    return null;
  } catch (error) {
    // No room, or somebody holds it: the log stays, and is moved later.
    const fault = faultOf(error);
    return fault === 'full' || fault === 'busy' ? null : errorData(error);
  }
}
