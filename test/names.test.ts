import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const PACKAGES = ['protocols', 'core', 'server', 'client', 'cli'];

/** Names that several files export today. This list only becomes shorter: a new name is found in one file, so that it means one thing. */
const KNOWN: readonly string[] = [
  'AgentCard',
  'AgentDefinition',
  'AgentId',
  'AgentInfo',
  'Answer',
  'Api',
  'Arrival',
  'Asked',
  'Backoff',
  'BaseMessage',
  'Credential',
  'CredentialDefinition',
  'CredentialUse',
  'Delivery',
  'ErrorBody',
  'ErrorMessage',
  'Exchange',
  'ExecutionEvent',
  'ExecutionPage',
  'Forgotten',
  'Health',
  'HttpRequest',
  'Kind',
  'Knowledge',
  'KnowledgeDocument',
  'Limits',
  'LineLimits',
  'Lines',
  'Mailbox',
  'MailboxOptions',
  'McpServerConfig',
  'NewKey',
  'PRIORITIES',
  'Permissions',
  'Priority',
  'RESPONSE_STATUSES',
  'Reading',
  'Route',
  'Run',
  'RunOptions',
  'Sender',
  'Session',
  'SessionPage',
  'SocketConnection',
  'Stored',
  'StoredWorkflow',
  'ToolEvent',
  'Turn',
  'VERSION',
  'Workflows',
  'Writer',
  'answer',
  'chain',
  'deadline',
  'explain',
  'faultsIn',
  'fromEnvelope',
  'fromResponse',
  'isAgentId',
  'isEmpty',
  'isLoopback',
  'name',
  'negotiate',
  'reachable',
  'slipsIn',
  'targetOf',
  'textOf',
  'toEnvelope',
];

test('an exported name has one meaning in all packages', () => {
  const files = new Map<string, string[]>();
  for (const file of PACKAGES.flatMap(sourceFiles)) {
    for (const name of exportsOf(file)) files.set(name, [...(files.get(name) ?? []), file]);
  }
  const several = [...files].filter(([, places]) => places.length > 1);
  expect(several.filter(([name]) => !KNOWN.includes(name))).toEqual([]);
  const names = several.map(([name]) => name);
  expect(KNOWN.filter((name) => !names.includes(name))).toEqual([]);
});

function sourceFiles(name: string): string[] {
  const folder = `packages/${name}/src`;
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(
      (file) => file.endsWith('.ts') && !/\.(?:test|contract|d)\.ts$/.test(file) && !file.startsWith('generated/'),
    )
    .map((file) => `${folder}/${file}`);
}

/** What a file declares and exports: a constant and its type may share a name, and `index.ts` only lists. */
function exportsOf(file: string): Set<string> {
  const declared = readFileSync(join(root, file), 'utf8').matchAll(
    /^export (?:abstract )?(?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm,
  );
  return new Set([...declared].map(([, name = '']) => name));
}
