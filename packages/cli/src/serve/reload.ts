import type { Reloaded, ReloadOptions, Server } from '@dragoman/server';
import type { Context } from '../context.ts';
import { checkNamedAgents } from '../doctor/agents.ts';
import { fail, printTrouble, troubleOf, unforeseen } from '../trouble.ts';
import { configPlace, readSettings, type ServeOptions, type ServeSettings } from './settings.ts';
import { startTrouble } from './start-trouble.ts';

/**
 * Reloads the configuration of the running server. If it is invalid, the problem is reported and the running one stays.
 */
export async function reload(
  server: Server,
  { options, json, context, complete = (settings) => settings }: ReloadSettings,
): Promise<void> {
  const { terminal, folder } = context;
  try {
    const settings = complete(readSettings(options, context));
    const reloaded = await taken(server, settings, options);
    if (json) terminal.out(`${JSON.stringify({ event: 'reloaded', ...reloaded })}\n`);
    else terminal.note(`${reloadedLine(configPlace(settings, folder), reloaded)}\n`);
    for (const { message, fix } of checkNamedAgents(settings.config, server.engine.router.ids())) {
      if (!json) terminal.note(`warning: ${message}\n  → ${fix}\n`);
    }
  } catch (error) {
    const trouble = troubleOf(error) ?? unforeseen(error);
    printTrouble(
      { ...trouble, message: `Reload failed; keeping the running configuration: ${trouble.message}` },
      terminal,
      json,
    );
  }
}

export interface ReloadSettings {
  readonly options: ServeOptions & ReloadOptions;
  readonly json: boolean;
  readonly context: Context;
  /** Adds what the server runs beside the configuration, such as the demo. */
  readonly complete?: (settings: ServeSettings) => ServeSettings;
}

function taken(server: Server, settings: ServeSettings, { allowEmpty }: ReloadOptions): Promise<Reloaded> {
  return server.reload(settings.config, { allowEmpty: allowEmpty === true }).catch(async (error: unknown) => {
    fail(await startTrouble(error, { settings, command: 'serve' }));
  });
}

function reloadedLine(file: string, { changed, waiting }: Reloaded): string {
  const parts = [
    changed.length === 0 ? 'no reloadable setting has changed' : `changed ${changed.join(', ')}`,
    ...(waiting.length === 0 ? [] : [`after a restart: ${waiting.join(', ')}`]),
  ];
  return `Read ${file} again: ${parts.join('; ')}.`;
}
