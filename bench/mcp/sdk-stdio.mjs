// An echo tool behind the official MCP server (SDK 1), on stdin and stdout.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'echo', version: '1.0.0' });
const echo = ({ prompt }) => ({ content: [{ type: 'text', text: prompt }] });
server.registerTool('echo', { description: 'Echoes.', inputSchema: { prompt: z.string() } }, echo);
await server.connect(new StdioServerTransport());
