import { askable } from '../askable.ts';
import { useLive } from '../live.ts';
import { Code } from '../parts/json.tsx';
import { Page } from '../parts/page.tsx';
import { pageUrl } from '../router.ts';
import { asAgent } from '../session.ts';

/** Ready settings for each client and protocol, with the address of this server. */
export default function ConnectPage() {
  const client = asAgent.value;
  const { data: agents } = useLive(async (signal) => client && askable(await client.agents({ signal })), [client]);
  const agent = agents?.[0]?.id ?? 'AGENT';
  return (
    <Page title="Connect">
      <p>
        Every agent, tool and workflow is reachable through every protocol, with the same key. Put an agent’s key into{' '}
        <code>DRAGOMAN_KEY</code>; administrators <a href={pageUrl('keys')}>create one on the Keys page</a>.
      </p>
      <div class="columns">
        {SETTINGS.map(({ title, about, write }) => (
          <section class="panel" key={title}>
            <h2>{title}</h2>
            <p class="dim">{about}</p>
            <Code text={write(location.origin, agent)} label={title} />
          </section>
        ))}
      </div>
    </Page>
  );
}

const SETTINGS: readonly { title: string; about: string; write: (url: string, agent: string) => string }[] = [
  {
    title: 'E2A over HTTP',
    about: 'One request, a stream of frames that can be resumed.',
    write: (url, agent) =>
      `curl -N ${url}/e2a/agents/${agent} \\\n  -H "Authorization: Bearer $DRAGOMAN_KEY" \\\n  -H 'Content-Type: application/json' -H 'Accept: text/event-stream' \\\n  -d '{"method":"chat.send","params":{"content":"hello"},"is_stream":true}'`,
  },
  {
    title: 'TypeScript',
    about: '@dragoman/client runs in Node and in browsers.',
    write: (url, agent) =>
      `import { createClient } from '@dragoman/client';\n\nconst client = createClient({ url: '${url}', key: process.env.DRAGOMAN_KEY });\nconsole.log(await client.send('hello', { agent: '${agent}' }).text());`,
  },
  {
    title: 'Linux Foundation A2A',
    about: 'Give A2A clients the address of a card; 1.0 and 0.3.',
    write: (url, agent) => `${url}/lf-a2a/agents/${agent}/.well-known/agent-card.json`,
  },
  {
    title: 'A2A mailbox',
    about: 'A message, and its answer at once or by callback.',
    write: (url, agent) =>
      `curl ${url}/a2a -H "Authorization: Bearer $DRAGOMAN_KEY" -H 'Content-Type: application/json' \\\n  -d '{"from":"Me","to":{"name":"${agent}"},"message":"hello"}'`,
  },
  {
    title: 'A2E wire: tools',
    about: 'Calls of tools over a WebSocket.',
    write: (url) =>
      `import { connectWire, webSocketWire } from '@dragoman/client/wire';\n\nconst key = process.env.DRAGOMAN_KEY;\nconst wire = await connectWire({ transport: webSocketWire({ url: '${url}' }), key });\nconsole.log((await wire.tools()).map(({ name }) => name));`,
  },
  {
    title: 'A2E workflows',
    about: 'JSON lines, checked, planned and run.',
    write: (url) => `npx dragoman workflow run --url ${url} workflow.jsonl`,
  },
  {
    title: 'Command line',
    about: 'Everything in this console, in a terminal.',
    write: (url, agent) => `export DRAGOMAN_URL=${url}\nnpx dragoman send --agent ${agent} "hello"`,
  },
  { title: 'OpenAPI', about: 'Every route, for code generators.', write: (url) => `${url}/openapi.json` },
];
