// An echo tool behind the official MCP server of one line, over HTTP and in memory. Reports its port.
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createMcpHandler, McpServer as ModernServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const [line] = process.argv.slice(2);
const echo = ({ prompt }) => ({ content: [{ type: 'text', text: prompt }] });

function legacyHandler() {
  const server = new McpServer({ name: 'echo', version: '1.0.0' });
  server.registerTool('echo', { description: 'Echoes.', inputSchema: { prompt: z.string() } }, echo);
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => 'session',
    enableJsonResponse: true,
  });
  const connected = server.connect(transport);
  return async (request, response) => {
    await connected;
    await transport.handleRequest(request, response);
  };
}

function modernHandler() {
  const handler = createMcpHandler(() => {
    const server = new ModernServer({ name: 'echo', version: '1.0.0' });
    server.registerTool('echo', { description: 'Echoes.', inputSchema: z.object({ prompt: z.string() }) }, echo);
    return server;
  });
  return async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, { method: request.method, headers: request.headers, body }),
    );
    const text = await answer.text();
    const type = answer.headers.get('content-type') ?? 'application/json';
    response.writeHead(answer.status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text);
  };
}

const server = createServer(line === 'v1' ? legacyHandler() : modernHandler());
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit(0));
