// The same trivial tool behind the official MCP SDK.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'echo', version: '1.0.0' });
server.registerTool('echo', { description: 'Says it back.', inputSchema: { message: z.string() } }, ({ message }) => ({
  content: [{ type: 'text', text: message }],
}));
await server.connect(new StdioServerTransport());
