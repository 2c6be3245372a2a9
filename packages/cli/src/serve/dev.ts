import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Engine } from '@dragoman/core';
import { type Config, type Server, systemIds } from '@dragoman/server';
import { PROGRAM } from '../command.ts';
import type { Context, ExitCode } from '../context.ts';
import { DEMO_ENDPOINTS, DemoApi } from '../demo/api.ts';
import { DEMO_CREDENTIAL, demoWorkflows } from '../demo/workflows.ts';
import { DEFAULT_DEV_DATA, type DevKeys, devKeysPath, readDevKeys, writeDevKeys } from '../dev-keys.ts';
import { LISTEN_PORT, listenCertificate } from '../listen/certificate.ts';
import { paint } from '../paint.ts';
import { shortPath } from '../short-path.ts';
import { VERSION } from '../version.ts';
import { urlOf } from './port-holder.ts';
import { runServer } from './run-server.ts';
import { readSettings, type ServeOptions, type Settings } from './settings.ts';

/** The `dev` command: `serve` with something to talk to. */
export async function dev(options: ServeOptions & { json: boolean }, context: Context): Promise<ExitCode> {
  const { terminal } = context;
  const { json } = options;
  const apiKey = systemIds.hex();
  await using api = await DemoApi.start(apiKey);
  const settings = withDemo(readSettings(options, context, { data: DEFAULT_DEV_DATA }), api, context.now());
  const kept = readDevKeys(settings.data);
  let adminKey = kept?.admin_key;
  return await runServer({
    settings,
    context,
    json,
    command: 'dev',
    onAdminKey: (key) => {
      adminKey = key;
    },
    onListening: async ({ engine, url }) => {
      const keys: DevKeys = {
        url: urlOf({ host: settings.config.host, port: Number(new URL(url).port || 80) }),
        key: await demoKey(engine, kept?.key),
        admin_key: await validKey(engine, adminKey, { agentId: 'admin', role: 'admin' }),
      };
      writeDevKeys(settings.data, keys);
      await putCredential({ url, adminKey: keys.admin_key, api, apiKey });
      writeWorkflows(settings.data, api);
      if (json) terminal.out(`${JSON.stringify({ event: 'demo', key: keys.key })}\n`);
      else terminal.out(greeting({ keys, settings, context }));
    },
  });
}

function withDemo(settings: Settings, api: DemoApi, now: Date): Settings {
  const { config, data } = settings;
  const demo = { base_url: api.url, description: 'The API of the demo.', endpoints: [...DEMO_ENDPOINTS] };
  const apis: Config['apis'] = { demo, ...config.apis };
  const agents: Config['agents'] = { ...DEMO_AGENTS, ...config.agents };
  // The demo's API, and callbacks to the local receiver, `dragoman listen`, are let out without further ado.
  const gate: Config['gate'] = {
    allow: [...(config.gate?.allow ?? []), api.host, `127.0.0.1:${LISTEN_PORT}`],
    ca: [...[config.gate?.ca ?? []].flat(), listenCertificate(data, now).path],
  };
  return { ...settings, config: { ...config, agents, apis, gate, default_agent: config.default_agent ?? 'echo' } };
}

/** The key of the demo's API, in the vault: a new one at each start, as is the port it is for. */
async function putCredential({ url, adminKey, api, apiKey }: DemoCredential): Promise<void> {
  const body = { type: 'api-key', value: apiKey, hosts: [api.host], description: 'Opens the orders of the demo API.' };
  const answer = await fetch(new URL(`/admin/v1/credentials/${DEMO_CREDENTIAL}`, url), {
    method: 'PUT',
    headers: { Authorization: `Bearer ${adminKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`the demo's credential was not taken: ${await answer.text()}`);
}

interface DemoCredential {
  readonly url: string;
  readonly adminKey: string;
  readonly api: DemoApi;
  readonly apiKey: string;
}

function writeWorkflows(data: string, api: DemoApi): void {
  mkdirSync(join(data, WORKFLOWS), { recursive: true });
  for (const [file, text] of Object.entries(demoWorkflows(api.url))) writeFileSync(join(data, WORKFLOWS, file), text);
}

/** The demo's own caller, who may talk to every agent and run every workflow. */
async function demoKey(engine: Engine, kept: string | undefined): Promise<string> {
  const permissions = { agents: ['*'], operations: ['*'], apis: ['*'], credentials: ['*'], tools: ['*'] };
  const known = engine.callers.find('demo');
  if (known?.permissions.operations === undefined) {
    await engine.callers.put({ agent_id: 'demo', name: 'Demo', permissions });
  }
  return validKey(engine, kept, { agentId: 'demo', role: 'agent' });
}

/** The key of the last time where it still opens, so that what was pasted then works again. */
async function validKey(
  engine: Server['engine'],
  kept: string | undefined,
  owner: { agentId: string; role: 'agent' | 'admin' },
): Promise<string> {
  if (kept !== undefined && engine.keys.find(kept)?.role === owner.role) return kept;
  const { secret } = await engine.keys.create({ ...owner, description: 'made by dragoman dev' });
  return secret;
}

function greeting({ keys, settings, context }: { keys: DevKeys; settings: Settings; context: Context }): string {
  const { folder, terminal } = context;
  const { bold, dim } = paint(terminal.colour.out);
  const { config, data } = settings;
  const shownData = shortPath(folder, data);
  const where = shownData === DEFAULT_DEV_DATA ? '' : ` --data ${shownData}`;
  // A new one at each start: the answer to a request that was sent before would be the stored one.
  const requestId = `demo-${systemIds.hex().slice(0, 6)}`;
  const lines = [
    `Dragoman ${VERSION} is ready at ${bold(keys.url)} ${dim(`(${Math.round(performance.now())} ms)`)}`,
    `  agents   ${Object.keys(config.agents ?? {}).join(', ')}; ${config.default_agent} unless told`,
    `  key      ${keys.key}`,
    `  API      ${config.apis?.['demo']?.base_url} (users, orders, slow, flaky); workflows for it in ${shortPath(folder, join(data, WORKFLOWS))}`,
    `  data     ${shownData}; the demo and the admin key are in ${shortPath(folder, devKeysPath(data))} (mode 600)`,
    '',
    'Try, in another terminal:',
    '',
    `  ${PROGRAM} send${where} --agent clock --id ${requestId} "what time is it?"`,
    `  ${PROGRAM} watch${where} ${requestId} --after 1`,
    `  ${PROGRAM} workflow run${where} --url ${keys.url} ${shortPath(folder, join(data, WORKFLOWS, 'active-users.jsonl'))}`,
    `  curl -N -H 'Authorization: Bearer ${keys.key}' -H 'Content-Type: application/json' -H 'Accept: text/event-stream' \\`,
    `    -d '{"method":"chat.send","params":{"content":"hello from curl"},"is_stream":true}' ${keys.url}/e2a/agents/echo`,
    '',
    'Stop it with Ctrl-C.',
  ];
  return `${lines.join('\n')}\n`;
}

/** Where the demo's workflows are, in the data folder. */
const WORKFLOWS = 'workflows';

const DEMO_AGENTS: NonNullable<Config['agents']> = {
  echo: { driver: 'module', module: demoModule('echo'), name: 'Echo', description: 'says it back, word by word' },
  clock: { driver: 'module', module: demoModule('clock'), name: 'Clock', description: 'tells the time, a few times' },
  failing: { driver: 'module', module: demoModule('failing'), name: 'Failing', description: 'fails half-way' },
};

function demoModule(name: string): string {
  return fileURLToPath(new URL(`../demo/${name}.mjs`, import.meta.url));
}
