// An MCP server that does not end with its input: `stubborn-mcp-server.mjs FILE` writes its pid there.
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

writeFileSync(process.argv[2] ?? '', String(process.pid));
setInterval(() => {}, 1000);
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    const serverInfo = { name: 'stubborn', version: '1' };
    write({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list')
    write({ id, result: { tools: [{ name: 'noop', inputSchema: { type: 'object' } }] } });
});
