import type { Command } from 'commander';
import { newCommand, PROGRAM, runs } from '../command.ts';
import type { Context } from '../context.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../environment.ts';
import type { McpFlags } from '../mcp/run-mcp.ts';

export function mcpCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'mcp',
    summary: 'serve agents, tools and workflows to an MCP client, on stdin and stdout',
    examples: [
      `${PROGRAM} mcp --server http://${DEFAULT_HOST}:${DEFAULT_PORT} --key-file ~/.dragoman/claude-code.key`,
      `${PROGRAM} mcp --config dragoman.yaml`,
    ],
  })
    .option('--server <url>', `the server to forward to (http://${DEFAULT_HOST}:${DEFAULT_PORT})`)
    .option('--key-file <file>', 'a file with the key for it (DRAGOMAN_KEY)')
    .option('--config <file>', 'run what this configuration has in this process instead, without a server')
    .option('--data <folder>', 'with --config: where everything durable is kept (a temporary store, gone when it ends)')
    .option('--agent <id>', 'only this agent');
  return runs<McpFlags>(command, context, async (options) => {
    const { runMcp } = await import('../mcp/run-mcp.ts');
    return runMcp(options, context);
  });
}
