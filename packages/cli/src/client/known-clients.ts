import { join } from 'node:path';
import type { JsonObject } from '@dragoman/protocols';
import type { Surroundings } from '../surroundings.ts';

/** A command that a client starts as an MCP server. */
export interface StartedCommand {
  /** The client's name for the server. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

/** A program that uses MCP servers, and the format of its settings. */
export interface KnownClient {
  readonly title: string;
  readonly format: 'json' | 'toml' | 'yaml';
  /** The member of the settings that has the servers, by name. */
  readonly member: string;
  /** The path of its settings. */
  file(place: ClientPlace): string;
  /** A server as an entry of the settings. */
  entry(started: StartedCommand): JsonObject;
}

export interface ClientPlace {
  readonly home: string;
  /** The folder in which applications keep their settings on this system. */
  readonly applications: string;
  /** The same folder for applications that follow XDG on every system but Windows. */
  readonly config: string;
}

export function placeIn({ environment }: Pick<Surroundings, 'environment'>, platform: NodeJS.Platform): ClientPlace {
  const home = environment['HOME'] ?? environment['USERPROFILE'] ?? '';
  const roaming = environment['APPDATA'] ?? join(home, 'AppData', 'Roaming');
  const xdg = environment['XDG_CONFIG_HOME'] ?? join(home, '.config');
  const library = join(home, 'Library', 'Application Support');
  const applications = { win32: roaming, darwin: library }[platform as string] ?? xdg;
  return { home, applications, config: platform === 'win32' ? roaming : xdg };
}

const plain = ({ command, args }: StartedCommand): JsonObject => ({ command, args: [...args] });
const typed = (started: StartedCommand): JsonObject => ({ type: 'stdio', ...plain(started) });

/** The clients that can be connected. A new one is an entry here. */
export const KNOWN_CLIENTS: Readonly<Record<string, KnownClient>> = {
  'claude-code': {
    title: 'Claude Code',
    format: 'json',
    member: 'mcpServers',
    file: ({ home }) => join(home, '.claude.json'),
    entry: typed,
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    format: 'json',
    member: 'mcpServers',
    file: ({ applications }) => join(applications, 'Claude', 'claude_desktop_config.json'),
    entry: plain,
  },
  cursor: {
    title: 'Cursor',
    format: 'json',
    member: 'mcpServers',
    file: ({ home }) => join(home, '.cursor', 'mcp.json'),
    entry: plain,
  },
  vscode: {
    title: 'VS Code',
    format: 'json',
    member: 'servers',
    file: ({ applications }) => join(applications, 'Code', 'User', 'mcp.json'),
    entry: typed,
  },
  codex: {
    title: 'Codex',
    format: 'toml',
    member: 'mcp_servers',
    file: ({ home }) => join(home, '.codex', 'config.toml'),
    entry: plain,
  },
  gemini: {
    title: 'Gemini CLI',
    format: 'json',
    member: 'mcpServers',
    file: ({ home }) => join(home, '.gemini', 'settings.json'),
    entry: plain,
  },
  goose: {
    title: 'goose',
    format: 'yaml',
    member: 'extensions',
    file: ({ config }) => join(config, 'goose', 'config.yaml'),
    entry: ({ name, command, args }) => ({
      enabled: true,
      type: 'stdio',
      name,
      cmd: command,
      args: [...args],
      timeout: 300,
    }),
  },
  zed: {
    title: 'Zed',
    format: 'json',
    member: 'context_servers',
    file: ({ config }) => join(config, 'zed', 'settings.json'),
    entry: (started) => ({ source: 'custom', ...plain(started) }),
  },
};
