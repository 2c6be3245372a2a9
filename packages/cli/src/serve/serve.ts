import { isPostgresUrl, shownPostgresUrl } from '@dragoman/core';
import type { Server } from '@dragoman/server';
import type { Context, ExitCode } from '../context.ts';
import { checkNamedAgents } from '../doctor/agents.ts';
import { paint } from '../paint.ts';
import { shortPath } from '../short-path.ts';
import { CLI_VERSION } from '../version.ts';
import { createDataFolder } from './create-data-folder.ts';
import { endpointLines } from './endpoint-lines.ts';
import { ignoreInGit } from './ignore-in-git.ts';
import { reload } from './reload.ts';
import { runServer } from './run-server.ts';
import { configPlace, readSettings, type ServeOptions, type ServeSettings } from './settings.ts';

export function serve(
  options: ServeOptions & { readonly json: boolean; readonly allowEmpty?: boolean },
  context: Context,
): Promise<ExitCode> {
  const { terminal } = context;
  const { json } = options;
  const settings = readSettings(options, context);
  if (settings.config.store !== 'memory') {
    createDataFolder(settings.data);
    ignoreInGit({ data: settings.data, folder: context.folder });
  }
  return runServer({
    settings,
    context,
    json,
    command: 'serve',
    onAdminKey: (key) => terminal.out(json ? `${JSON.stringify({ event: 'admin-key', key })}\n` : adminKeyLines(key)),
    onListening: async (server) => {
      if (!json) terminal.out(greeting(server, settings, context));
      for (const { message, fix } of checkNamedAgents(settings.config, server.engine.router.ids())) {
        if (!json) terminal.note(`warning: ${message}\n  → ${fix}\n`);
      }
    },
    onHangUp: (server) => reload(server, { options, json, context }),
  });
}

function greeting(server: Server, settings: ServeSettings, { folder, terminal }: Context): string {
  const { config, data } = settings;
  const { bold } = paint(terminal.colour.out);
  const agents = server.engine.router.ids();
  const lines = [
    `Dragoman ${CLI_VERSION} listens at ${bold(server.url)}`,
    ...endpointLines(server, { folder, host: config.host }),
    `  data     ${dataPlace(config.store, shortPath(folder, data))}`,
    `  config   ${configPlace(settings, folder)}`,
    `  agents   ${agents.length === 0 ? 'none yet' : agents.join(', ')}`,
    'Stop it with Ctrl-C.',
  ];
  return `${lines.join('\n')}\n`;
}

function dataPlace(store: string | undefined, data: string): string {
  if (store === 'memory') return 'in memory, gone when it stops';
  return store !== undefined && isPostgresUrl(store) ? `${shownPostgresUrl(store)}, keys and files in ${data}` : data;
}

function adminKeyLines(key: string): string {
  return `The admin key, created on this first start. It is shown only once; store it safely:\n\n  export DRAGOMAN_ADMIN_KEY=${key}\n\n`;
}
