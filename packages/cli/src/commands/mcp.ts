import type { Command } from 'commander';
import { newCommand, nonEmptyName, PROGRAM, runs } from '../command.ts';
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
    .option('--server <url>', `the server to forward to (default: http://${DEFAULT_HOST}:${DEFAULT_PORT})`)
    .option(
      '--key-file <file>',
      `a file with the API key (default: the key in DRAGOMAN_KEY, or that of a running \`${PROGRAM} dev\`)`,
    )
    .option(
      '--config <file>',
      'run the agents, tools and workflows of this configuration in this process, without a server',
    )
    .option(
      '--data <folder>',
      'with --config: where to store data (default: a temporary folder, deleted on exit)',
      nonEmptyName,
    )
    .option('--agent <id>', 'offer only this agent');
  return runs<McpFlags>(command, context, async (options) => {
    const { runMcp } = await import('../mcp/run-mcp.ts');
    return runMcp(options, context);
  });
}
