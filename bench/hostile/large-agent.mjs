// A program that answers each line with a large text: an agent's frames, or an MCP server's answers.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [kind, file] = process.argv.slice(2);

const MCP = {
  initialize:
    '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"large","version":"1"}}',
  'tools/list': '{"tools":[{"name":"large","inputSchema":{"type":"object"}}]}',
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, request_id } = JSON.parse(line);
  const text = readFileSync(file, 'utf8');
  if (kind === 'agent') {
    const frame = `{"request_id":${JSON.stringify(request_id)},"response_kind":"e2a.complete","is_final":true,"status":"succeeded"`;
    process.stdout.write(`${frame},"body":{"result":${text}}}\n`);
  } else if (id !== undefined) {
    const result = MCP[method] ?? `{"content":[],"structuredContent":${text}}`;
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${result}}\n`);
  }
}
