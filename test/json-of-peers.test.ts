import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

// Text from peers goes through `JsonReader`, which checks long texts in a thread; json-reader.test.ts shows that it does. A file that
// parses on its own thread is listed here, with the reason why its texts are short or its thread is not the event loop.

const packages = fileURLToPath(new URL('../packages', import.meta.url));

const OWN_PARSERS: Readonly<Record<string, string>> = {
  'core/src/worker-threads/json-reader.ts': 'short texts, in the reader itself',
  'core/src/worker-threads/json-thread.ts': 'the thread of the reader',
  'core/src/agents/a2a/remote-sessions.ts': 'a row that this server wrote',
  'core/src/agents/openai/model-tools.ts':
    'the arguments of one tool call, inside an answer that the reader has bounded',
  'core/src/endpoints/openai/openai-endpoint.ts':
    'one text of a body that the reader has bounded, at most limits.body_bytes',
  'core/src/executions/workflow-request.ts': 'a row that this server wrote',
  'core/src/explain/explain-request.ts': 'a row that this server wrote, for the operator',
  'core/src/explain/way-in.ts': 'a row that this server wrote, for the operator',
  'core/src/targets/target-request.ts': 'the content of one message of the mailbox, at most mailbox.max_content_bytes',
  'core/src/tools/http-tool.ts': 'bytes that are not UTF-8, refused at the first of them; text goes through the reader',
  'core/src/tools/plugins/mcp-cursor.ts': 'a cursor that this server made, inside a line that the reader has bounded',
  'core/src/tools/tool-workflow.ts': 'a file of the operator, read at start',
  'core/src/workflow/api-answer.ts': 'in the thread of the execution, if the answer is long',
  'core/src/workflow/step-run.ts': 'stored data, in the thread of the execution, if it is long',
  'core/src/workflow/operations/store-data.ts': 'the result of the execution itself, in its thread',
  'server/src/routes/wire.ts': 'a body of at most 1 KiB',
};

test('files that parse JSON text themselves are those listed', () => {
  const parsing = sourcesOf('core/src', 'server/src').filter((file) =>
    PARSES.test(readFileSync(join(packages, file), 'utf8')),
  );
  expect(parsing.sort()).toEqual(Object.keys(OWN_PARSERS).sort());
});

test('where bytes come in, nothing calls JSON.parse', () => {
  const parsing = sourcesOf('server/src/edges', 'core/src/agents', 'core/src/tools/mcp').filter((file) => {
    return readFileSync(join(packages, file), 'utf8').includes('JSON.parse(');
  });
  // Copies of values that a module, a card or this server made.
  expect(parsing.sort()).toEqual([
    'core/src/agents/a2a/peer-card.ts',
    'core/src/agents/module-agent.ts',
    'core/src/tools/mcp/unreadable-answer.ts',
  ]);
});

function sourcesOf(...folders: readonly string[]): string[] {
  return folders.flatMap((folder) => {
    const files = readdirSync(join(packages, folder), { recursive: true, encoding: 'utf8' });
    return files.filter((file) => /(?<!\.(?:test|contract))\.ts$/.test(file)).map((file) => `${folder}/${file}`);
  });
}

const PARSES = /\bparseJson(?:Bytes)?\(/;
