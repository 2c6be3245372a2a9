import { join } from 'node:path';
import { type Server, systemIds } from '@dragoman/server';
import { PROGRAM } from '../command.ts';
import type { Context, ExitCode } from '../context.ts';
import { Demo, WORKFLOWS } from '../demo/demo.ts';
import { DEFAULT_DEV_DATA, type DevKeys, devKeysPath } from '../dev-keys.ts';
import { listenCertificate } from '../listen/certificate.ts';
import { type Paint, paint } from '../paint.ts';
import { shortPath } from '../short-path.ts';
import { firstLook, type Shown } from '../tour/first-look.ts';
import { Callbacks, type Stage, stageOn } from '../tour/stage.ts';
import { CLI_VERSION } from '../version.ts';
import { visible } from '../visible.ts';
import { createDataFolder } from './create-data-folder.ts';
import { endpointLines } from './endpoint-lines.ts';
import { ignoreInGit } from './ignore-in-git.ts';
import { reload } from './reload.ts';
import { runServer } from './run-server.ts';
import { configPlace, readSettings, type ServeOptions, type ServeSettings } from './settings.ts';

export interface DevOptions extends ServeOptions {
  /** Whether to show what the server does as soon as it is ready. */
  readonly look: boolean;
}

/** The `dev` command: `serve` with a demo, and a first look at it. */
export async function dev(
  { look, json, ...options }: DevOptions & { json: boolean },
  context: Context,
): Promise<ExitCode> {
  const { terminal } = context;
  const given = readSettings(options, context, { data: DEFAULT_DEV_DATA });
  const { data } = given;
  createDataFolder(data);
  ignoreInGit({ data, folder: context.folder });
  let url = '';
  await using callbacks = await Callbacks.listen(0, listenCertificate(data, context.now()), () => url);
  await using demo = await Demo.start(given, { callbackPort: callbacks.port, now: context.now() });
  const { settings } = demo;
  let adminKey: string | undefined;
  // The log does not show the requests of the first look.
  let isLooking = look;
  return await runServer({
    settings,
    showsRequests: () => !isLooking,
    context,
    json,
    command: 'dev',
    onAdminKey: (key) => {
      adminKey = key;
    },
    onListening: async (server) => {
      const keys = await demo.furnish(server, adminKey);
      url = keys.url;
      const path = server.signInPath({ key: keys.key, admin_key: keys.admin_key });
      const link = path && keys.url + path;
      if (json) terminal.out(`${JSON.stringify({ event: 'demo', key: keys.key, ...(link && { console: link }) })}\n`);
      else terminal.out(greeting(server, { keys, link, settings, context }));
      const stage = (signal: AbortSignal) => stageOn(keys, { callbacks, data, signal });
      const isWanted = !look || (await showOnce(stage, { json, context }));
      isLooking = false;
      // The tour has its own receiver.
      await callbacks[Symbol.asyncDispose]();
      if (!json && isWanted) terminal.out(suggestionText({ keys, settings, context }));
    },
    onHangUp: (server) => reload(server, { options, json, context, complete: (read) => demo.with({ ...read, data }) }),
  });
}

/** Shows the first look, within a time limit. Returns `false` if the user stopped it. */
async function showOnce(
  stage: (signal: AbortSignal) => Stage,
  { json, context: { terminal, onSignal } }: { json: boolean; context: Context },
): Promise<boolean> {
  const over = new AbortController();
  const forget = onSignal(() => over.abort());
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(LOOK_MS)]);
  const colours = paint(terminal.colour.out);
  if (!json) terminal.out('\nA first look, over the public endpoints:\n\n');
  for await (const shown of firstLook(stage(signal))) {
    terminal.out(json ? `${JSON.stringify({ event: 'shown', ...shown })}\n` : shownLine(shown, colours));
  }
  forget();
  return !over.signal.aborted;
}

function shownLine({ name, ok, text, ms }: Shown, { green, red, dim }: Paint): string {
  return `  ${ok ? green('✓') : red('✗')} ${name.padEnd(8)}  ${visible(text)} ${dim(`(${ms} ms)`)}\n`;
}

interface GreetingParts {
  readonly keys: DevKeys;
  readonly settings: ServeSettings;
  readonly context: Context;
}

function greeting(
  server: Server,
  { keys, link, settings, context: { folder, terminal } }: GreetingParts & { readonly link: string | undefined },
): string {
  const { config, data } = settings;
  const { bold, dim } = paint(terminal.colour.out);
  const lines = [
    `Dragoman ${CLI_VERSION} is ready at ${bold(keys.url)} ${dim(`(${Math.round(performance.now())} ms)`)}`,
    ...(link === undefined ? [] : [`  console  ${bold(link)}`, '           signs you in once, within 15 minutes']),
    ...endpointLines(server, { folder, host: config.host }),
    `  config   ${configPlace(settings, folder)}`,
    `  agents   ${Object.keys(config.agents ?? {}).join(', ')}; default: ${config.default_agent}`,
    `  key      ${keys.key}`,
    `  API      ${config.apis?.['demo']?.base_url} (users, orders, slow, flaky)`,
    `           workflows for it are in ${shortPath(folder, join(data, WORKFLOWS))}`,
    `  data     ${shortPath(folder, data)}`,
    `           the demo and the admin key are in ${shortPath(folder, devKeysPath(data))} (mode 600)`,
  ];
  return `${lines.join('\n')}\n`;
}

function suggestionText({ keys, settings: { data }, context: { folder } }: GreetingParts): string {
  const shownData = shortPath(folder, data);
  const where = shownData === DEFAULT_DEV_DATA ? '' : ` --data ${shownData}`;
  // A new id at each start, because a repeated one would get the recorded answer of an earlier request.
  const requestId = `demo-${systemIds.hex().slice(0, 6)}`;
  const lines = [
    '',
    'Try, in another terminal:',
    '',
    `  ${PROGRAM} tour${where}`,
    `  ${PROGRAM} send${where} --agent clock --id ${requestId} "what time is it?"`,
    `  ${PROGRAM} watch${where} ${requestId} --after 1`,
    `  ${PROGRAM} explain${where} ${requestId}`,
    `  ${PROGRAM} workflow run${where} --url ${keys.url} ${shortPath(folder, join(data, WORKFLOWS, 'active-users.jsonl'))}`,
    `  curl -N ${keys.url}/e2a/agents/echo -H 'Content-Type: application/json' \\`,
    `    -H 'Authorization: Bearer ${keys.key}' \\`,
    "    -H 'Accept: text/event-stream' \\",
    `    -d '{"method":"chat.send","params":{"content":"hello from curl"},"is_stream":true}'`,
    '',
    'Stop it with Ctrl-C.',
  ];
  return `${lines.join('\n')}\n`;
}

/** The time limit of the first look, which usually takes a second. */
const LOOK_MS = 30_000;
