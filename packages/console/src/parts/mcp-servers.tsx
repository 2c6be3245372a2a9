import type { McpServerState } from '@dragoman/client';
import { useLive } from '../live.ts';
import { asAdmin } from '../session.ts';
import { Problem } from './problem.tsx';
import { State } from './state.tsx';
import { Text } from './text.tsx';

/** The MCP servers whose tools are offered here, with their states and their last log lines. */
export function McpServerList() {
  const tools = asAdmin.value?.admin.tools;
  const { data, error, reload } = useLive(async () => tools?.mcpServers(), [tools], 5000);
  if (tools === undefined) return null;
  return (
    <section class="panel">
      <h2>MCP servers</h2>
      <Problem error={error} retry={reload} />
      {data?.length === 0 && <p class="dim">None. Add one under mcp_servers in dragoman.yaml.</p>}
      {data?.map((server) => (
        <OneServer key={server.server_id} server={server} />
      ))}
    </section>
  );
}

function OneServer({ server }: { readonly server: McpServerState }) {
  const {
    server_id: id,
    name = id ?? '',
    status = 'connecting',
    transport,
    tools_count: count,
    server_name: own,
    server_version: version,
    error,
    log,
  } = server;
  return (
    <details>
      <summary>
        <State state={status} /> <Text value={name} />{' '}
        <span class="dim">
          <Text value={[own, version].filter(Boolean).join(' ')} /> {transport}, {count} tools
        </span>
        {error !== undefined && (
          <span class="bad">
            {' '}
            <Text value={error} />
          </span>
        )}
      </summary>
      {log.length === 0 ? (
        <p class="dim">Nothing was logged about it.</p>
      ) : (
        <pre tabIndex={0} role="region" aria-label={`Log of ${name}`}>
          {log.map(({ at, level, text }, line) => (
            <div key={line} class={level === 'warn' || level === 'error' ? 'bad' : undefined}>
              {at.slice(11, 19)} <Text value={text} />
            </div>
          ))}
        </pre>
      )}
    </details>
  );
}
