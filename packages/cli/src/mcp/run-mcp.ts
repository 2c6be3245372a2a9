import { type ConnectionOptions, connect } from '../connection.ts';
import type { Context, ExitCode } from '../context.ts';
import { readText } from '../input.ts';
import { fail } from '../trouble.ts';
import { ownStdin } from '../wire/own-stdin.ts';
import { ownStdout } from '../wire/own-stdout.ts';
import { runStdioHost } from '../wire/stdio-host.ts';
import { HttpPeer } from './http-peer.ts';
import { LocalPeer } from './local-peer.ts';
import { StdioBridge } from './stdio-bridge.ts';

export interface McpFlags {
  readonly server?: string;
  readonly keyFile?: string;
  readonly config?: string;
  readonly data?: string;
  readonly agent?: string;
}

/** Serves MCP to the parent process, with what another server offers or with a server of its own. */
export async function runMcp(options: McpFlags & { json: boolean }, context: Context): Promise<ExitCode> {
  const { server, keyFile, config, agent } = options;
  if (config !== undefined && (server !== undefined || keyFile !== undefined)) {
    fail({ code: 'usage', message: 'give --server or --config, not both', exitCode: 2 });
  }
  if (config === undefined) return forward(options, context);
  return runStdioHost(options, context, {
    command: 'mcp',
    serve: ({ server: own, input, output }) => new StdioBridge(new LocalPeer(own, agent), output).run(input),
  });
}

async function forward({ server, keyFile, data, agent }: McpFlags, context: Context): Promise<ExitCode> {
  const key = keyFile === undefined ? undefined : (await readText(keyFile, context)).trim();
  const options: ConnectionOptions = {
    serverFlag: '--server',
    ...(server !== undefined && { url: server }),
    ...(key !== undefined && { key }),
    ...(data !== undefined && { data }),
  };
  const connection = await connect(options, context, 'agent');
  const { output, giveBack } = ownStdout();
  const path = agent === undefined ? 'mcp' : `mcp/agents/${encodeURIComponent(agent)}`;
  const url = new URL(path, connection.url.endsWith('/') ? connection.url : `${connection.url}/`);
  const bridge = new StdioBridge(new HttpPeer({ url, key: connection.key }), output);
  const input = ownStdin();
  let forget = () => {};
  const signalled = new Promise<void>((stop) => {
    forget = context.onSignal(stop);
  });
  try {
    await Promise.race([bridge.run(input), signalled]);
    return 0;
  } finally {
    forget();
    input.destroy();
    giveBack();
  }
}
