import { describeCredentialStore } from './credentials.contract.ts';
import { describeExecutions } from './executions.contract.ts';
import { MemoryStore } from './memory-store.ts';
import { describeStore } from './store.contract.ts';

describeStore('the store in memory', async () => new MemoryStore());
describeExecutions('the store in memory', async () => new MemoryStore());
describeCredentialStore('the store in memory', async () => new MemoryStore());
