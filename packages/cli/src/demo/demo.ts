import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@dragoman/client';
import type { Engine } from '@dragoman/core';
import { type Config, type Server, systemIds } from '@dragoman/server';
import { type DevKeys, readDevKeys, writeDevKeys } from '../dev-keys.ts';
import { LISTEN_PORT, listenCertificate } from '../listen/certificate.ts';
import { urlOf } from '../serve/port-holder.ts';
import type { ServeSettings } from '../serve/settings.ts';
import { DEMO_ENDPOINTS, DemoApi } from './api.ts';
import { DemoModel } from './model.ts';
import { DEMO_CREDENTIAL, demoWorkflows } from './workflows.ts';

/**
 * The parts that the demo adds to a server: agents, a model, a tool, an API with its credential, workflows, and keys to
 * use it all.
 */
export class Demo implements AsyncDisposable {
  /** The given settings, with the demo. */
  readonly settings: ServeSettings;
  readonly #now: Date;
  readonly #api: DemoApi;
  readonly #model: DemoModel;
  readonly #apiKey: string;
  readonly #callbackPort: number;
  readonly #kept: DevKeys | undefined;

  private constructor({ api, model, apiKey, callbackPort, settings, now }: DemoParts) {
    this.#now = now;
    this.#api = api;
    this.#model = model;
    this.#apiKey = apiKey;
    this.#callbackPort = callbackPort;
    this.#kept = readDevKeys(settings.data);
    this.settings = this.with(settings);
  }

  /** The settings with the demo in them. */
  with(settings: ServeSettings): ServeSettings {
    const [api, model, callbackPort, now] = [this.#api, this.#model, this.#callbackPort, this.#now];
    return withDemo(settings, { api, model, callbackPort, now });
  }

  /** Starts what must run before the server. Callbacks will be received on `callbackPort`. */
  static async start(
    settings: ServeSettings,
    { callbackPort, now }: { callbackPort: number; now: Date },
  ): Promise<Demo> {
    const apiKey = systemIds.hex();
    const [api, model] = await Promise.all([DemoApi.start(apiKey), DemoModel.start()]);
    return new Demo({ api, model, apiKey, callbackPort, settings, now });
  }

  /** Adds the rest to the running server, and writes the keys to the file in which other commands find them. */
  async furnish({ engine, url }: Server, newAdminKey: string | undefined): Promise<DevKeys> {
    const { config, data } = this.settings;
    const keys: DevKeys = {
      url: urlOf({ host: config.host, port: Number(new URL(url).port || 80) }),
      key: await demoKey(engine, this.#kept?.key),
      admin_key: await validKey(engine, newAdminKey ?? this.#kept?.admin_key, { agentId: 'admin', role: 'admin' }),
      callback_port: this.#callbackPort,
    };
    writeDevKeys(data, keys);
    await this.#putCredential(url, keys.admin_key);
    mkdirSync(join(data, WORKFLOWS), { recursive: true });
    for (const [file, text] of Object.entries(demoWorkflows(this.#api.url))) {
      writeFileSync(join(data, WORKFLOWS, file), text);
    }
    return keys;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#api[Symbol.asyncDispose](), this.#model[Symbol.asyncDispose]()]);
  }

  /** Puts the key of the demo API into the vault. The key and the port of the API are new at each start. */
  async #putCredential(url: string, adminKey: string): Promise<void> {
    await createClient({ url, key: adminKey }).admin.credentials.put(DEMO_CREDENTIAL, {
      type: 'api-key',
      value: this.#apiKey,
      hosts: [this.#api.host],
      description: 'Opens the orders of the demo API.',
    });
  }
}

interface DemoParts {
  readonly api: DemoApi;
  readonly model: DemoModel;
  readonly apiKey: string;
  readonly callbackPort: number;
  readonly settings: ServeSettings;
  readonly now: Date;
}

function withDemo(
  settings: ServeSettings,
  { api, model, callbackPort, now }: Pick<DemoParts, 'api' | 'model' | 'callbackPort' | 'now'>,
): ServeSettings {
  const { config, data } = settings;
  const demo = { base_url: api.url, description: 'The API of the demo.', endpoints: [...DEMO_ENDPOINTS] };
  const apis: Config['apis'] = { demo, ...config.apis };
  const ours = demoAgents(data, model);
  const agents: Config['agents'] = { ...ours, ...config.agents };
  // Only the agents of the demo: an agent of the configuration with one of their names is not one of them.
  const demos = Object.keys(ours).filter((id) => !Object.hasOwn(config.agents ?? {}, id));
  const mailbox: Config['mailbox'] = { anonymous: demos, ...config.mailbox };
  const tools: Config['tools'] = [...(config.tools ?? []), demoFile('tools')];
  // Callbacks to `dragoman listen` on this machine need no configuration.
  const receivers = [...new Set([LISTEN_PORT, callbackPort])].map((port) => `127.0.0.1:${port}`);
  const gate: Config['gate'] = {
    ...config.gate,
    allow: [...(config.gate?.allow ?? []), api.host],
    callbacks: [...(config.gate?.callbacks ?? []), ...receivers],
    ca: [...[config.gate?.ca ?? []].flat(), listenCertificate(data, now).path],
  };
  const default_agent = config.default_agent ?? 'echo';
  const log: Config['log'] = { access: true, ...config.log };
  return { ...settings, config: { ...config, agents, apis, tools, gate, default_agent, mailbox, log } };
}

/** The key of the demo's own caller, which may use every agent, tool and workflow. */
async function demoKey(engine: Engine, kept: string | undefined): Promise<string> {
  const all = ['*'];
  const permissions = { agents: all, operations: all, apis: all, credentials: all, tools: all, workflows: all };
  const known = engine.callers.find('demo');
  if (known?.permissions.operations === undefined) {
    await engine.callers.put({ agent_id: 'demo', name: 'Demo', permissions });
  }
  return validKey(engine, kept, { agentId: 'demo', role: 'agent' });
}

/** The previous key if it is still valid, so that commands that were pasted before still work; otherwise a new one. */
async function validKey(
  engine: Engine,
  kept: string | undefined,
  owner: { agentId: string; role: 'agent' | 'admin' },
): Promise<string> {
  if (kept !== undefined && engine.keys.find(kept)?.role === owner.role) return kept;
  const { secret } = await engine.keys.create({ ...owner, description: 'made by dragoman dev' });
  return secret;
}

function demoAgents(data: string, model: DemoModel): NonNullable<Config['agents']> {
  const ours = (name: string) => ({ driver: 'module' as const, module: demoFile(name) });
  return {
    echo: { ...ours('echo'), name: 'Echo', description: 'echoes its input, word by word' },
    clock: { ...ours('clock'), name: 'Clock', description: 'sends the time, a few times' },
    failing: { ...ours('failing'), name: 'Failing', description: 'fails half-way' },
    guide: {
      driver: 'stdio',
      command: process.execPath,
      // With the flags of this process, because from source it needs the same loader. Only one process can have the
      // inspector.
      args: [...process.execArgv.filter((flag) => !flag.startsWith('--inspect')), demoFile('guide'), data],
      name: 'Guide',
      description: 'a separate program that calls a tool over the wire and runs a workflow',
      skills: ['guiding'],
    },
    helper: {
      driver: 'openai',
      base_url: model.url,
      model: 'scripted',
      tools: ['word_count'],
      name: 'Helper',
      description: 'a scripted model that counts words with a tool',
    },
  };
}

function demoFile(name: string): string {
  return fileURLToPath(new URL(`./${name}.mjs`, import.meta.url));
}

/** The folder of the demo's workflows, in the data folder. */
export const WORKFLOWS = 'workflows';
