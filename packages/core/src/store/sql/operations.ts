import type { Database } from '../sqlite-engine.ts';
import { agentReads, agentRemovals, agentWrites } from './agents.ts';
import { anonymousRemovals } from './anonymous.ts';
import { apiReads, apiRemovals, apiWrites } from './apis.ts';
import { counterReads, counterWrites } from './counters.ts';
import { credentialReads, credentialRemovals, credentialWrites } from './credentials.ts';
import { damageReads } from './damages.ts';
import { executionReads, executionRemovals, executionWrites } from './executions.ts';
import { forgettingRemovals } from './forgetting.ts';
import { keyReads, keyRemovals, keyWrites } from './keys.ts';
import { knowledgeReads, knowledgeRemovals, knowledgeWrites } from './knowledge.ts';
import { memoryReads, memoryRemovals, memoryWrites } from './memories.ts';
import { nonceReads, nonceRemovals, nonceWrites } from './nonces.ts';
import { outboxReads, outboxRemovals, outboxWrites } from './outbox.ts';
import { pinReads, pinWrites } from './pins.ts';
import { pushConfigReads, pushConfigRemovals, pushConfigWrites } from './push-configs.ts';
import { registrationReads, registrationRemovals, registrationWrites } from './registrations.ts';
import { requestListReads } from './request-list.ts';
import { requestReads, requestRemovals, requestWrites } from './requests.ts';
import { sessionReads, sessionRemovals, sessionWrites } from './sessions.ts';
import { storedDataReads, storedDataWrites } from './stored-data.ts';
import { threadReads, threadRemovals, threadWrites } from './threads.ts';
import { workflowReads, workflowRemovals, workflowWrites } from './workflows.ts';

/** All operations of the thread. Their kind decides when they run and whether they may use the ballast's space. */
export function prepareOperations(database: Database) {
  return {
    reads: {
      ...requestReads(database),
      ...requestListReads(database),
      ...sessionReads(database),
      ...keyReads(database),
      ...agentReads(database),
      ...counterReads(database),
      ...credentialReads(database),
      ...threadReads(database),
      ...outboxReads(database),
      ...apiReads(database),
      ...workflowReads(database),
      ...knowledgeReads(database),
      ...memoryReads(database),
      ...pinReads(database),
      ...pushConfigReads(database),
      ...executionReads(database),
      ...storedDataReads(database),
      ...registrationReads(database),
      ...nonceReads(database),
      ...damageReads(database),
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
      ...apiWrites(database),
      ...workflowWrites(database),
      ...knowledgeWrites(database),
      ...memoryWrites(database),
      ...pinWrites(database),
      ...pushConfigWrites(database),
      ...executionWrites(database),
      ...storedDataWrites(database),
      ...registrationWrites(database),
      ...nonceWrites(database),
    },
    /** Writes that free space or revoke access: on a full disk they may use the ballast. */
    removals: {
      ...requestRemovals(database),
      ...sessionRemovals(database),
      ...keyRemovals(database),
      ...agentRemovals(database),
      ...credentialRemovals(database),
      ...threadRemovals(database),
      ...outboxRemovals(database),
      ...apiRemovals(database),
      ...workflowRemovals(database),
      ...knowledgeRemovals(database),
      ...memoryRemovals(database),
      ...executionRemovals(database),
      ...pushConfigRemovals(database),
      ...registrationRemovals(database),
      ...nonceRemovals(database),
      ...forgettingRemovals(database),
      ...anonymousRemovals(database),
    },
  };
}

export type Operations = ReturnType<typeof prepareOperations>;

/** Every operation by name. */
export type OperationsByName = Operations['reads'] & Operations['writes'] & Operations['removals'];
