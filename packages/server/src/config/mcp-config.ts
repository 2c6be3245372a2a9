/** `mcp:` of the configuration, for this server as an MCP server. `mcp_servers:` lists the MCP servers that it uses. */
export const McpShape = {
  type: 'object',
  description: 'The MCP endpoint, /mcp.',
  properties: {
    wait_seconds: {
      type: 'integer',
      minimum: 1,
      maximum: 240,
      default: 50,
      description:
        'How long tools/call waits for an answer. After that it returns status "working" and the request_id for get_answer. Most clients stop waiting after 60 seconds.',
    },
    max_listed_tools: {
      type: 'integer',
      minimum: 1,
      default: 40,
      description:
        'Maximum number of tools that tools/list shows. Where there are more, search_tools finds the others.',
    },
  },
  additionalProperties: false,
} as const;
