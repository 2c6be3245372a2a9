import { useState } from 'preact/hooks';
import { useAction } from '../action.ts';
import { askable } from '../askable.ts';
import { useLive } from '../live.ts';
import { Code } from '../parts/json.tsx';
import { Page } from '../parts/page.tsx';
import { Problem } from '../parts/problem.tsx';
import { Secret } from '../parts/secret.tsx';
import { pageUrl } from '../router.ts';
import { asAdmin, asAgent } from '../session.ts';

/** Settings for each client and protocol, with the URL of this server and, if one was created, a new key. */
export default function ConnectPage() {
  const client = asAgent.value;
  const { data: agents } = useLive(async (signal) => client && askable(await client.agents({ signal })), [client]);
  const [chosen, setChosen] = useState<string>();
  const [key, setKey] = useState<string>();
  const agent = chosen ?? agents?.[0]?.id ?? 'AGENT';
  return (
    <Page
      title="Connect"
      actions={
        agents !== undefined &&
        agents.length > 0 && (
          <label class="check">
            to
            <select value={agent} onChange={(event) => setChosen(event.currentTarget.value)}>
              {agents.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )
      }
    >
      <p>
        Every agent, tool and workflow is reachable through every protocol, with the same key.{' '}
        {key === undefined && (
          <>
            The settings read it from <code>DRAGOMAN_KEY</code>.
          </>
        )}
      </p>
      {asAdmin.value !== undefined && <FreshKey made={setKey} />}
      {GROUPS.map(({ title, settings }) => (
        <section key={title} aria-label={title}>
          <h2>{title}</h2>
          <div class="columns wide">
            {settings.map(({ name, about, write }) => (
              <section class="panel" key={name} aria-label={name}>
                <h3>{name}</h3>
                <p class="dim">{about}</p>
                <Code
                  text={write({ url: location.origin, agent, key: key ?? '$DRAGOMAN_KEY', isFresh: key !== undefined })}
                  label={`Settings for ${name}`}
                />
              </section>
            ))}
          </div>
        </section>
      ))}
    </Page>
  );
}

/** Creates a key for a client. The settings show it until the user leaves the page. */
function FreshKey({ made }: { readonly made: (key: string) => void }) {
  const admin = asAdmin.value?.admin;
  const { data } = useLive(async () => admin?.agents.list(), [admin]);
  const [caller, setCaller] = useState<string>();
  const [secret, setSecret] = useState<string>();
  const { act, trouble, isBusy } = useAction();
  const callers = data?.agents.map(({ agent_id: id }) => id) ?? [];
  const id = caller ?? callers[0];
  if (data !== undefined && callers.length === 0) {
    return (
      <p class="dim">
        No agent has keys yet. <a href={pageUrl('agents')}>Create one on the Agents page.</a>
      </p>
    );
  }
  const make = () =>
    act(async () => {
      if (id === undefined) return;
      const key = await admin?.keys.create({ agent_id: id, description: 'made on the Connect page' });
      setSecret(key?.api_key);
      if (key !== undefined) made(key.api_key);
    });
  return (
    <>
      <div class="bar">
        <label class="check">
          Put a fresh key of
          <select value={id ?? ''} onChange={(event) => setCaller(event.currentTarget.value)}>
            {callers.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
          into the settings
        </label>
        <button type="button" disabled={isBusy || id === undefined} onClick={() => void make()}>
          Create key
        </button>
      </div>
      <Problem error={trouble} />
      {secret !== undefined && <Secret value={secret} />}
    </>
  );
}

interface SettingsParts {
  readonly url: string;
  readonly agent: string;
  /** In the notation of a shell. */
  readonly key: string;
  readonly isFresh: boolean;
}

interface Settings {
  readonly name: string;
  readonly about: string;
  write(parts: SettingsParts): string;
}

/** JSON with each list on one line. */
const json = (value: unknown) =>
  JSON.stringify(value, null, 2).replaceAll(/\[\n[^\]]*\]/g, (list) => list.replaceAll(/\n\s*/g, ' '));
const inCode = ({ key, isFresh }: SettingsParts) => (isFresh ? `'${key}'` : 'process.env.DRAGOMAN_KEY');
/** The key for settings files, which cannot use shell variables. */
const inFile = ({ key, isFresh }: SettingsParts) => (isFresh ? key : 'YOUR_KEY');
const ofShell = ({ url, key, isFresh }: SettingsParts) =>
  `export DRAGOMAN_URL=${url}${isFresh ? `\nexport DRAGOMAN_KEY=${key}` : ''}\n`;

const CLIENTS: readonly Settings[] = [
  {
    name: 'MCP clients',
    about: 'Claude Desktop, Cursor and others: agents, tools and workflows as tools.',
    write: (parts) =>
      json({
        mcpServers: {
          dragoman: {
            command: 'npx',
            args: ['dragoman', 'mcp', '--server', parts.url],
            env: { DRAGOMAN_KEY: inFile(parts) },
          },
        },
      }),
  },
  {
    name: 'MCP over HTTP',
    about: 'For clients that speak Streamable HTTP.',
    write: (parts) =>
      json({
        mcpServers: {
          dragoman: { type: 'http', url: `${parts.url}/mcp`, headers: { Authorization: `Bearer ${inFile(parts)}` } },
        },
      }),
  },
  {
    name: 'Editors (ACP)',
    about: 'Zed and JetBrains IDEs: an agent in the editor’s panel.',
    write: (parts) =>
      json({
        agent_servers: {
          Dragoman: {
            command: 'npx',
            args: ['dragoman', 'acp', '--server', parts.url, '--agent', parts.agent],
            env: { DRAGOMAN_KEY: inFile(parts) },
          },
        },
      }),
  },
  {
    name: 'OpenAI clients',
    about: 'Anything that lets you set the base URL; the model is the agent.',
    write: (parts) =>
      `base URL  ${parts.url}/v1\nAPI key   ${inFile(parts)}\nmodel     ${parts.agent}\n\ncurl ${parts.url}/v1/chat/completions \\\n  -H "Authorization: Bearer ${parts.key}" -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify({ model: parts.agent, messages: [{ role: 'user', content: 'hello' }] })}'`,
  },
  {
    name: 'Command line',
    about: 'Everything in this console, in a terminal.',
    write: (parts) =>
      `${ofShell(parts)}npx dragoman send --agent ${parts.agent} "hello"\nnpx dragoman workflow run workflow.jsonl`,
  },
];

const PROTOCOLS: readonly Settings[] = [
  {
    name: 'E2A over HTTP',
    about: 'One request, a stream of frames that can be resumed.',
    write: ({ url, agent, key }) =>
      `curl -N ${url}/e2a/agents/${agent} \\\n  -H "Authorization: Bearer ${key}" \\\n  -H 'Content-Type: application/json' -H 'Accept: text/event-stream' \\\n  -d '{"method":"chat.send","params":{"content":"hello"},"is_stream":true}'`,
  },
  {
    name: 'TypeScript',
    about: '@dragoman/client runs in Node and in browsers.',
    write: (parts) =>
      `import { createClient } from '@dragoman/client';\n\nconst client = createClient({ url: '${parts.url}', key: ${inCode(parts)} });\nconsole.log(await client.send('hello', { agent: '${parts.agent}' }).text());`,
  },
  {
    name: 'Linux Foundation A2A',
    about: 'Give A2A clients the address of a card; 1.0 and 0.3.',
    write: ({ url, agent }) => `${url}/lf-a2a/agents/${agent}/.well-known/agent-card.json`,
  },
  {
    name: 'A2A mailbox',
    about: 'A message, and its answer at once or by callback.',
    write: ({ url, agent, key }) =>
      `curl ${url}/a2a \\\n  -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' \\\n  -d '{"from":"Me","to":{"name":"${agent}"},"message":"hello"}'`,
  },
  {
    name: 'A2E wire: tools',
    about: 'Calls of tools over a WebSocket.',
    write: (parts) =>
      `import { connectWire, webSocketWire } from '@dragoman/client/wire';\n\nconst key = ${inCode(parts)};\nconst wire = await connectWire({ transport: webSocketWire({ url: '${parts.url}' }), key });\nconsole.log((await wire.tools()).map(({ name }) => name));`,
  },
  { name: 'OpenAPI', about: 'Every route, for code generators.', write: ({ url }) => `${url}/openapi.json` },
];

const GROUPS = [
  { title: 'Programs', settings: CLIENTS },
  { title: 'Protocols', settings: PROTOCOLS },
];
