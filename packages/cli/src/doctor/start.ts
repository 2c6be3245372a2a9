import type { Log, LogFields } from '@dragoman/core';
import type { Server } from '@dragoman/server';
import type { Context } from '../context.ts';
import type { ServeSettings } from '../serve/settings.ts';
import { troubleOf } from '../trouble.ts';
import { withLocalHost } from '../wire/local-host.ts';
import { broken, type DoctorFinding, sound } from './finding.ts';
import { probeAgents } from './probe.ts';

/**
 * Finds problems that only a start finds: starts the configuration like `serve`, with a store of its own and without
 * ports, and stops it. This loads files and runs the programs of MCP servers, like `tools list --config`.
 */
export async function checkStart(
  { configPath, config }: ServeSettings,
  context: Context,
  { known, probe = false }: { known: readonly DoctorFinding[]; probe?: boolean },
): Promise<DoctorFinding[]> {
  if (configPath === undefined) return [];
  const log = new Warnings();
  try {
    return await withLocalHost({ config: configPath, log }, context, async (server) => {
      const { servers } = server.wire;
      await servers.ready;
      return [
        sound('start', 'every file, agent and tool in it can be opened'),
        ...checkServers(servers, log, configPath),
        ...(probe ? await probeAgents(server, config.agents ?? {}) : []),
      ];
    });
  } catch (error) {
    const trouble = troubleOf(error);
    if (trouble === undefined) throw error;
    const { code, message, fixes: [fix] = [] } = trouble;
    const isKnown = known.some(
      ({ ok, message: reported }) => !ok && (message.includes(reported) || isOfSameFile(reported, message)),
    );
    // The fix of a known code is more precise.
    const remedy = code === 'start_failed' || fix === undefined ? `correct ${configPath}` : fix;
    return isKnown ? [] : [broken('start', message, remedy)];
  }
}

function checkServers(servers: Server['wire']['servers'], log: Warnings, configPath: string): DoctorFinding[] {
  return [...servers.servers()].flatMap((server) => {
    const check = `mcp ${server.name}`;
    const place = `mcp_servers.${server.name} in ${configPath}`;
    const lines = log.lines.filter(({ fields }) => fields['mcp_server'] === server.name);
    if (lines.length > 0) {
      return lines.map(({ fields: { tool, error, fix }, message }) => {
        const text = [message, ...[tool, error].filter((part) => typeof part === 'string')].join(': ');
        return broken(check, text, typeof fix === 'string' ? `${fix} Correct ${place}` : `correct ${place}`);
      });
    }
    const { status, tools_count } = server.info();
    if (status === 'ready')
      return [sound(check, `is running, with ${tools_count} ${tools_count === 1 ? 'tool' : 'tools'}`)];
    return [broken(check, 'has not listed its tools within ten seconds', `check what it does, or correct ${place}`)];
  });
}

/** Whether both messages are about the same file, which each of them contains. */
function isOfSameFile(reported: string, message: string): boolean {
  const [file = ''] = /\/.*?\.[cm]?[jt]s\b/.exec(reported) ?? [];
  return file !== '' && message.includes(file);
}

class Warnings implements Log {
  readonly lines: { readonly fields: LogFields; readonly message: string }[] = [];
  readonly debug = () => {};
  readonly info = () => {};
  readonly warn = (fields: LogFields, message: string) => {
    this.lines.push({ fields, message });
  };
  readonly error = this.warn;
}
