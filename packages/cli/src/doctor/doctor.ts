import { existsSync } from 'node:fs';
import { createClient, DragomanError } from '@dragoman/client';
import { isPostgresUrl } from '@dragoman/core';
import { PROGRAM } from '../command.ts';
import { type ConnectionOptions, findKey, findServer, isLoopbackUrl } from '../connection.ts';
import type { Context } from '../context.ts';
import { devDataIn } from '../dev-keys.ts';
import { DEFAULT_PORT } from '../environment.ts';
import { healthAt, urlOf } from '../serve/port-holder.ts';
import { configPlace, readSettings, type ServeOptions, type ServeSettings, settingsFrom } from '../serve/settings.ts';
import { troubleOf } from '../trouble.ts';
import { checkAgents, checkNamedAgents } from './agents.ts';
import { checkDataFolder } from './data-folder.ts';
import { broken, type DoctorFinding, sound } from './finding.ts';
import { checkBuild, checkNode, checkStore } from './installation.ts';
import { checkNodes } from './nodes.ts';
import { checkKey, checkOtherPorts, checkServer, type ServerPlace } from './server.ts';
import { checkStart } from './start.ts';
import { checkTools } from './tools.ts';

export interface DoctorOptions extends ServeOptions, ConnectionOptions {
  /** Whether to send a real question to each agent of the configuration. */
  readonly probe?: boolean;
}

/** Checks everything a working server needs, and reports a fix for each problem. */
export async function examineInstallation(options: DoctorOptions, context: Context): Promise<DoctorFinding[]> {
  const { settings, environment, findings } = readConfiguration(options, context);
  const surroundings = { environment, folder: context.folder };
  const { url, dev } = findServer(options, surroundings);
  const place = placeOf({ options, settings, devUrl: dev && url });
  const health = await healthAt(place.url);
  const serverRuns = health?.isDragoman === true;
  const path = environment['PATH'] ?? '';
  const configured = settings.config.agents ?? {};
  const parts = [
    ...(await checkAgents(configured, {
      path,
      correct: (id, member) => `correct agents.${id}.${member} in ${settings.configPath ?? 'the configuration'}`,
    })),
    ...checkTools(settings.config),
  ];
  return [
    checkNode(),
    checkBuild(),
    await checkStore(settings.config.store),
    ...findings,
    ...parts,
    ...checkNamedAgents(settings.config, Object.keys(configured)),
    ...(await checkStart(settings, context, { known: parts, probe: options.probe === true })),
    ...(await checkDataFolders({ options, surroundings, settings, serverRuns })),
    await checkServer(place, health),
    ...(serverRuns
      ? [
          ...(await checkKeys({ options, surroundings, url: place.url })),
          ...(await checkAddedAgents({ options, surroundings, url: place.url, path })),
          ...(await checkSharedNodes({ options, surroundings, url: place.url })),
        ]
      : await checkOtherPorts(settings.config)),
  ];
}

/** Reads the settings. If they are invalid, reports the problems and uses the defaults for the other checks. */
function readConfiguration(options: DoctorOptions, { environment, folder }: Context) {
  try {
    const settings = readSettings(options, { environment, folder });
    return { settings, environment, findings: [sound('config', configPlace(settings, folder))] };
  } catch (error) {
    const trouble = troubleOf(error);
    if (trouble === undefined) throw error;
    const { code, message, fixes = [], issues = [] } = trouble;
    const usable = code === 'bad_environment' ? { PATH: environment['PATH'] } : environment;
    const settings = settingsFrom({ path: undefined, config: {} }, options, { environment: usable, folder });
    const findings =
      issues.length === 0
        ? [broken('environment', message, fixes[0] ?? 'unset it')]
        : issues.map((issue) => broken('config', issue.message, issue.suggestion ?? 'correct the line'));
    return { settings, environment: usable, findings };
  }
}

/** Checks the given data folder; otherwise that of `serve` and, if it exists, that of `dev`. */
async function checkDataFolders({
  options,
  surroundings,
  settings: { config, data },
  serverRuns,
}: Pick<RunningServer, 'options' | 'surroundings'> & { settings: ServeSettings; serverRuns: boolean }): Promise<
  DoctorFinding[]
> {
  const inPostgres = isPostgresUrl(config.store ?? '');
  const findings = [await checkDataFolder(data, { serverRuns, inPostgres })];
  const ofDev = devDataIn(options, surroundings);
  if (ofDev === data || !existsSync(ofDev)) return findings;
  return [...findings, await checkDataFolder(ofDev, { check: 'data of dev', serverRuns })];
}

/** The server to check: the given one, otherwise that of `dragoman dev`, otherwise where `serve` would listen. */
function placeOf({
  options: { url: given, host, port },
  settings: { config },
  devUrl,
}: {
  options: DoctorOptions;
  settings: ServeSettings;
  devUrl: string | undefined;
}): ServerPlace {
  const isServe = host !== undefined || port !== undefined || config.port !== DEFAULT_PORT;
  const url = given ?? (isServe ? undefined : devUrl) ?? urlOf(config);
  return { url, isGiven: given !== undefined, host: config.host, port: config.port };
}

interface RunningServer {
  readonly options: DoctorOptions;
  readonly surroundings: Pick<Context, 'environment' | 'folder'>;
  readonly url: string;
}

/** Checks the agents that were added by administration, if the server is on this machine and there is an admin key. */
async function checkAddedAgents({
  options,
  surroundings,
  url,
  path,
}: RunningServer & { path: string }): Promise<DoctorFinding[]> {
  const { dev } = findServer({ ...options, url }, surroundings);
  const admin = findKey({ options, context: surroundings, role: 'admin', dev });
  if (admin === undefined || !isLoopbackUrl(url)) return [];
  try {
    const { agents } = await createClient({ url, key: admin.key, retry: { giveUpAfterMs: 0 } }).admin.agents.list();
    const reached = agents.filter(({ driver }) => driver !== undefined);
    return await checkAgents(Object.fromEntries(reached.map((agent) => [agent.agent_id, agent])), {
      path,
      correct: (id) => `add it again: ${PROGRAM} agents add ${id}`,
    });
  } catch (error) {
    return listFailure(error, 'agents');
  }
}

/** Checks the nodes that share the server's database, if there is an admin key. */
async function checkSharedNodes({ options, surroundings, url }: RunningServer): Promise<DoctorFinding[]> {
  const { dev } = findServer({ ...options, url }, surroundings);
  const admin = findKey({ options, context: surroundings, role: 'admin', dev });
  if (admin === undefined) return [];
  try {
    return checkNodes(await createClient({ url, key: admin.key, retry: { giveUpAfterMs: 0 } }).admin.nodes.list());
  } catch (error) {
    return listFailure(error, 'nodes');
  }
}

/** Another check reports a key that is refused. */
function listFailure(error: unknown, what: string): DoctorFinding[] {
  if (!(error instanceof DragomanError)) throw error;
  if (error.is('unauthenticated') || error.is('forbidden')) return [];
  return [broken(what, `cannot list the ${what}: ${error.message}`, 'see the log of the server')];
}

async function checkKeys({ options, surroundings, url }: RunningServer): Promise<DoctorFinding[]> {
  const { dev } = findServer({ ...options, url }, surroundings);
  const found = (['agent', 'admin'] as const).flatMap((role) => {
    const key = findKey({ options, context: surroundings, role, dev });
    return key === undefined ? [] : [{ ...key, role, url }];
  });
  if (found.length > 0) return Promise.all(found.map(checkKey));
  const fix = `export DRAGOMAN_KEY=$(${PROGRAM} keys create --agent AGENT_ID)`;
  return [broken('key', 'the server responds, but there is no key to use with it', fix)];
}
