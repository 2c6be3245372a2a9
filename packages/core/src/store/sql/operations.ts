import type { Database } from '../sqlite-engine.ts';
import { agentReads, agentRemovals, agentWrites } from './agents.ts';
import { counterReads, counterWrites } from './counters.ts';
import { credentialReads, credentialRemovals, credentialWrites } from './credentials.ts';
import { keyReads, keyRemovals, keyWrites } from './keys.ts';
import { outboxReads, outboxRemovals, outboxWrites } from './outbox.ts';
import { requestReads, requestRemovals, requestWrites } from './requests.ts';
import { sessionReads, sessionRemovals, sessionWrites } from './sessions.ts';
import { threadReads, threadRemovals, threadWrites } from './threads.ts';

/** Everything the thread can be asked, by kind: the kind decides when it runs and whether it may use the last space. */
export function prepareOperations(database: Database) {
  return {
    reads: {
      ...requestReads(database),
      ...sessionReads(database),
      ...keyReads(database),
      ...agentReads(database),
      ...counterReads(database),
      ...credentialReads(database),
      ...threadReads(database),
      ...outboxReads(database),
    },
    writes: {
      ...requestWrites(database),
      ...sessionWrites(database),
      ...keyWrites(database),
      ...agentWrites(database),
      ...counterWrites(database),
      ...credentialWrites(database),
      ...threadWrites(database),
      ...outboxWrites(database),
    },
    /** Writes that make room or shut somebody out: on a full disk they may use the ballast. */
    removals: {
      ...requestRemovals(database),
      ...sessionRemovals(database),
      ...keyRemovals(database),
      ...agentRemovals(database),
      ...credentialRemovals(database),
      ...threadRemovals(database),
      ...outboxRemovals(database),
    },
  };
}

export type Operations = ReturnType<typeof prepareOperations>;

/** Every operation by name. */
export type Asked = Operations['reads'] & Operations['writes'] & Operations['removals'];
