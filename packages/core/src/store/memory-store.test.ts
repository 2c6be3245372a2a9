import { describeApis } from './apis.contract.ts';
import { describeCredentialStore } from './credentials.contract.ts';
import { describeExecutions } from './executions.contract.ts';
import { describeKnowledge } from './knowledge.contract.ts';
import { MemoryStore } from './memory-store.ts';
import { describeStore } from './store.contract.ts';

describeStore('the store in memory', async () => new MemoryStore());
describeExecutions('the store in memory', async () => new MemoryStore());
describeCredentialStore('the store in memory', async () => new MemoryStore());
describeApis('the store in memory', async () => new MemoryStore());
describeKnowledge('the store in memory', async () => new MemoryStore());
