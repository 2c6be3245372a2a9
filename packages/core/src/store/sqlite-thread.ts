import { join } from 'node:path';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { Ballast } from './ballast.ts';
import { CommitMarker, refuseLoss, refuseMissing } from './commit-marker.ts';
import { FolderLock } from './folder-lock.ts';
import { createPrivateFolder } from './private-files.ts';
import { damageReads, endDamaged } from './sql/damages.ts';
import { Committer, errorData } from './sqlite-committer.ts';
import { DATABASE, openDatabase } from './sqlite-database.ts';
import { type Database, engineOf, faultOf } from './sqlite-engine.ts';
import {
  callsIn,
  type FailedAnswer,
  type FromThread,
  type StoreAnswer,
  type StoreCall,
  type ThreadSetup,
  type ToThread,
} from './sqlite-messages.ts';

// The thread that owns the database. SQLite is synchronous: here it blocks only the callers that wait for it.

if (parentPort === null) throw new Error('sqlite-thread.ts runs in a worker only');
const port = parentPort;
const setup: ThreadSetup = workerData;

async function start(): Promise<void> {
  try {
    serve(await open(setup));
  } catch (error) {
    say({ kind: 'refused', error: errorData(error) });
    end();
  }
}

interface Opened {
  readonly driver: string;
  readonly lock: FolderLock;
  readonly committer: Committer;
  readonly marker: CommitMarker;
}

async function open({ folder, ballastBytes, engine: module, acceptLoss }: ThreadSetup): Promise<Opened> {
  const engine = await engineOf(module);
  if (!createPrivateFolder(folder, DATABASE)) {
    log('warn', {}, `other users can list files in ${folder}; run chmod 700 ${folder}`);
  }
  const lock = new FolderLock({ engine, folder });
  let database: Database | undefined;
  try {
    const path = join(folder, DATABASE);
    if (!acceptLoss) refuseMissing(folder);
    const ballast = new Ballast({ path: join(folder, 'ballast'), bytes: ballastBytes });
    const opened = makingRoom(ballast, () => openDatabase(engine, path));
    database = opened;
    const elapsed = () => performance.now();
    const marker = new CommitMarker({ folder, elapsed, onGone: () => tellGone(path) });
    if (!acceptLoss) refuseLoss(database, { folder, marker });
    for (const damage of makingRoom(ballast, () => endDamaged(opened)))
      log('error', { ...damage }, 'ended as store_damaged: it cannot be read');
    tellLeftOut(opened);
    if (!ballast.restore()) log('warn', { folder, bytes: ballastBytes }, 'the disk has no room for the ballast');
    const committer = new Committer({
      database,
      ballast,
      logPath: `${path}-wal`,
      onRoom: tellRoom,
      elapsed,
    });
    marker.write(committer.count);
    return { driver: engine.name, lock, committer, marker };
  } catch (error) {
    database?.close();
    lock.release();
    throw error;
  }
}

function tellLeftOut(database: Database): void {
  for (const damage of damageReads(database).listDamages()) {
    if (damage.kind !== 'request' && damage.kind !== 'execution')
      log('error', { ...damage }, 'left out as store_damaged: put it again to repair it');
  }
}

/** On a full disk even opening may need room, so the ballast is released and the work repeated. */
function makingRoom<Result>(ballast: Ballast, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (faultOf(error) !== 'full') throw error;
    ballast.release();
    return work();
  }
}

/**
 * Takes all waiting calls, answers the reads, commits one batch of writes, and looks again: a read waits for one
 * batch at most, and all writes that arrived meanwhile share the next commit.
 */
function serve({ driver, lock, committer, marker }: Opened): void {
  const reads: StoreCall[] = [];
  const writes: StoreCall[] = [];
  let closing = false;
  /** Calls that the thread itself answers. */
  const own: Readonly<Record<string, () => unknown>> = {
    stats: () => ({ driver, ...committer.counts }),
    scrub: () => committer.scrub(),
  };

  const take = (message: ToThread): void => {
    if (message === 'close') closing = true;
    else
      for (const call of callsIn(message))
        (Object.hasOwn(own, call.name) || committer.isRead(call) ? reads : writes).push(call);
  };
  const takeWaiting = (): void => {
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port))
      take(next.message);
  };
  const read = (call: StoreCall) => {
    const answerOwn = own[call.name];
    return answerOwn === undefined ? committer.read(call) : { id: call.id, value: answerOwn() };
  };

  port.on('message', (first: ToThread) => {
    try {
      take(first);
      takeWaiting();
      while (reads.length > 0 || writes.length > 0) {
        if (reads.length > 0) answer(reads.splice(0).map(read));
        if (writes.length > 0) {
          answer(committer.commit(writes.splice(0, BATCH)));
          committer.checkpointWhenDue();
          marker.note(() => committer.count);
        }
        takeWaiting();
      }
      if (closing) {
        marker.write(committer.count);
        committer.close();
        lock.release();
      }
    } catch (error) {
      say({ kind: 'broken', error: errorData(error) });
      committer.abandon();
      closing = true;
    }
    if (closing) end();
  });
  say({ kind: 'ready', epoch: committer.epoch });
}

function end(): void {
  port.close();
  Atomics.store(setup.closed, 0, 1);
  Atomics.notify(setup.closed, 0);
}

function answer(answers: readonly StoreAnswer[]): void {
  const done: unknown[] = [];
  const failed: FailedAnswer[] = [];
  for (const one of answers) {
    if ('error' in one) failed.push(one);
    else done.push(one.id, one.value);
  }
  if (done.length > 0) say(done);
  if (failed.length > 0) say({ kind: 'failed', failed });
}

function say(message: FromThread): void {
  port.postMessage(message);
}

function log(level: 'info' | 'warn' | 'error', fields: Record<string, unknown>, message: string): void {
  say({ kind: 'log', level, fields, message });
}

function tellRoom(room: boolean): void {
  if (room) log('info', { folder: setup.folder }, 'the disk has room again');
  else log('error', { folder: setup.folder }, 'the disk is full: nothing new is recorded');
}

function tellGone(path: string): void {
  log('error', {}, `${path} was removed while the server runs: all it records now is lost when it stops`);
}

/** The most writes that share one commit. A read may have to wait for one such commit. */
const BATCH = 512;

// Started last, because it uses the constants above.
await start();
