import type { OpenStore } from '../../test-support/shared-store.ts';
import { describeAgents } from './agents.contract.ts';
import { describeAnonymous } from './anonymous.contract.ts';
import { describeApis } from './apis.contract.ts';
import { describeCounters } from './counters.contract.ts';
import { describeCredentialStore } from './credentials.contract.ts';
import { describeExecutions } from './executions.contract.ts';
import { describeForgetting } from './forgetting.contract.ts';
import { describeKeys } from './keys.contract.ts';
import { describeKnowledge } from './knowledge.contract.ts';
import { describeMemories } from './memories.contract.ts';
import { describeNonces } from './nonces.contract.ts';
import { describeOutbox } from './outbox.contract.ts';
import { describePins } from './pins.contract.ts';
import { describePushConfigs } from './push-configs.contract.ts';
import { describeRegistrations } from './registrations.contract.ts';
import { describeRequestList } from './request-list.contract.ts';
import { describeRequests } from './requests.contract.ts';
import { describeSessions } from './sessions.contract.ts';
import { describeThreads } from './threads.contract.ts';
import { describeWorkflows } from './workflows.contract.ts';

/** The contract of every store. */
export function describeStore(name: string, open: OpenStore): void {
  for (const describeFamily of FAMILIES) describeFamily(name, open);
}

/** One more family is one line here. */
const FAMILIES = [
  describeAgents,
  describeAnonymous,
  describeApis,
  describeCounters,
  describeCredentialStore,
  describeExecutions,
  describeForgetting,
  describeKeys,
  describeKnowledge,
  describeMemories,
  describeNonces,
  describeOutbox,
  describePins,
  describePushConfigs,
  describeRegistrations,
  describeRequestList,
  describeRequests,
  describeSessions,
  describeThreads,
  describeWorkflows,
];
