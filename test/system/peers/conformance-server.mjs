// An MCP server with the prompts and resources that the MCP conformance suite asks for by these names.

import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const server = new McpServer({ name: 'conformance', version: '1.0.0' });
const user = (content) => ({ role: 'user', content });
const text = (words) => user({ type: 'text', text: words });

server.registerResource('static-text', 'test://static-text', { mimeType: 'text/plain' }, ({ href: uri }) => ({
  contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
}));
server.registerResource('static-binary', 'test://static-binary', { mimeType: 'image/png' }, ({ href: uri }) => ({
  contents: [{ uri, mimeType: 'image/png', blob: png }],
}));
const ids = { id: (begin) => ['123', '124', '200'].filter((id) => id.startsWith(begin)) };
const template = new ResourceTemplate('test://template/{id}/data', { list: undefined, complete: ids });
server.registerResource('template', template, { mimeType: 'application/json' }, ({ href: uri }, { id }) => ({
  contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ id, data: `Data for ID: ${id}` }) }],
}));

server.registerPrompt('test_simple_prompt', { description: 'A simple prompt.' }, () => ({
  messages: [text('This is a simple prompt for testing.')],
}));
const known = (begin) => ['testing', 'toast'].filter((word) => word.startsWith(begin));
server.registerPrompt(
  'test_prompt_with_arguments',
  { description: 'With arguments.', argsSchema: { arg1: completable(z.string(), known), arg2: z.string() } },
  ({ arg1, arg2 }) => ({ messages: [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
);
server.registerPrompt(
  'test_prompt_with_embedded_resource',
  { description: 'With a resource.', argsSchema: { resourceUri: z.string() } },
  ({ resourceUri: uri }) => ({
    messages: [
      user({ type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content.' } }),
      text('Please process the embedded resource above.'),
    ],
  }),
);
server.registerPrompt('test_prompt_with_image', { description: 'With an image.' }, () => ({
  messages: [user({ type: 'image', data: png, mimeType: 'image/png' }), text('Please analyze the image above.')],
}));
await server.connect(new StdioServerTransport());
