// An MCP server on the official SDK, whose tools ask the user.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const server = new McpServer({ name: 'asking', version: '1.0.0' });
const question = {
  message: 'Which name?',
  requestedSchema: { type: 'object', properties: { firstName: { type: 'string' } }, required: ['firstName'] },
};
const text = (words) => ({ content: [{ type: 'text', text: words }] });
server.registerTool('register', { description: 'Asks for a name.' }, async () => {
  const { action, content } = await server.server.elicitInput(question);
  return text(`${action} ${content?.firstName ?? ''}`.trim());
});
server.registerTool('hurry', { description: 'Does not wait for long.' }, async () => {
  const answer = await server.server.elicitInput(question, { timeout: 50 }).catch(() => ({ action: 'gave up' }));
  return text(answer.action);
});
await server.connect(new StdioServerTransport());
