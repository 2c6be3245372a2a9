import type { ToolList } from '@dragoman/client';
import { connectWire, httpWire } from '@dragoman/client/wire';
import type { JsonObject } from '@dragoman/protocols';
import type { ToolDefinition } from '@dragoman/protocols/a2e-wire';
import { useState } from 'preact/hooks';
import { stateOfStream, useFrames } from '../frame-stream.ts';
import { useLive } from '../live.ts';
import { AnswerView, foldFrames } from '../parts/answer-view.tsx';
import { HeldTool } from '../parts/held-tool.tsx';
import { Json } from '../parts/json.tsx';
import { McpServerList } from '../parts/mcp-servers.tsx';
import { Empty, Page } from '../parts/page.tsx';
import { Problem } from '../parts/problem.tsx';
import { SchemaForm } from '../parts/schema-form.tsx';
import { NeedsKey } from '../parts/sign-in.tsx';
import { State } from '../parts/state.tsx';
import { Text } from '../parts/text.tsx';
import { pageUrl, route } from '../router.ts';
import { asAdmin, asAgent, keys } from '../session.ts';

/** Every tool, with a form to call it, and changed tools that wait to be accepted. */
export default function ToolsPage() {
  const admin = asAdmin.value?.admin;
  const { agent } = keys.value;
  const [name] = route.value.rest;
  const [search, setSearch] = useState('');
  const { data, error, reload } = useLive(async () => {
    const [listed, known] = await Promise.all([admin?.tools.list(), agent === undefined ? [] : definitions(agent)]);
    return { listed, known };
  }, [admin, agent]);
  const names = [...new Set([...(data?.known ?? []), ...(data?.listed?.tools ?? [])].map((tool) => tool.name))].sort();
  const held = data?.listed?.held ?? [];
  const found = [...new Set([...held, ...names])].filter((one) => one.toLowerCase().includes(search.toLowerCase()));
  return (
    <Page title="Tools">
      <Problem error={error} retry={reload} />
      <div class="split">
        <nav class="panel" aria-label="Tools">
          <label>
            Search
            <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
          </label>
          {data !== undefined && names.length === 0 && (
            <p class="dim">No tools. Name files under tools in dragoman.yaml, or an MCP server under mcp_servers.</p>
          )}
          <ul class="list">
            {found.map((one) => (
              <li key={one}>
                <a href={pageUrl('tools', one)} aria-current={one === name ? 'page' : undefined}>
                  <Text value={one} /> {held.includes(one) && <State state="held" />}
                  <small>
                    <Text value={descriptionOf(one, data)} />
                  </small>
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div>
          {name === undefined ? (
            <>
              <Empty title="Choose a tool">
                <p>Its arguments become a form. A call is recorded like any other request.</p>
              </Empty>
              <McpServerList />
            </>
          ) : (
            <OneTool
              key={name}
              name={name}
              definition={data?.known.find((tool) => tool.name === name)}
              description={descriptionOf(name, data)}
              isHeld={held.includes(name)}
              changed={reload}
            />
          )}
        </div>
      </div>
    </Page>
  );
}

interface Found {
  readonly listed: ToolList | undefined;
  readonly known: readonly ToolDefinition[];
}

function descriptionOf(name: string, data: Found | undefined): string {
  const both = [...(data?.known ?? []), ...(data?.listed?.tools ?? [])];
  return both.find((tool) => tool.name === name)?.description ?? '';
}

interface OneToolParts {
  readonly name: string;
  readonly definition: ToolDefinition | undefined;
  readonly description: string;
  readonly isHeld: boolean;
  readonly changed: () => void;
}

function OneTool({ name, definition, description, isHeld, changed }: OneToolParts) {
  const [call, setCall] = useState<{ readonly id: string; readonly args: JsonObject }>();
  return (
    <section class="panel" aria-label={name}>
      <h2>
        <Text value={name} />
      </h2>
      <p class="dim">
        <Text value={description} />
      </p>
      {isHeld && asAdmin.value !== undefined && <HeldTool name={name} changed={changed} />}
      {definition === undefined ? (
        asAgent.value === undefined && <NeedsKey kind="agent" />
      ) : (
        <>
          <SchemaForm
            schema={definition.input_schema ?? { type: 'object' }}
            action="Call"
            submit={(args) => setCall({ id: crypto.randomUUID(), args })}
          />
          {call !== undefined && <Call key={call.id} name={name} id={call.id} args={call.args} />}
          <details>
            <summary class="dim">Definition</summary>
            <Json value={definition} label={`Definition of ${name}`} />
          </details>
        </>
      )}
    </section>
  );
}

function Call({ name, id, args }: { readonly name: string; readonly id: string; readonly args: JsonObject }) {
  const client = asAgent.value;
  const open =
    client &&
    ((onReconnect: () => void, signal: AbortSignal) =>
      client.send({ method: name, params: args }, { agent: 'tools', requestId: id, onReconnect, signal }));
  const stream = useFrames(open, [id]);
  return (
    <section class="panel" aria-label="Result">
      <div class="bar">
        <h3>Result</h3>
        <State state={stateOfStream(stream)} />
        <a href={pageUrl('requests', id)}>the request</a>
      </div>
      <Problem error={stream.error} />
      <AnswerView answer={foldFrames(stream.frames)} />
    </section>
  );
}

/** The tools with their JSON Schemas, which only the wire provides. */
async function definitions(key: string): Promise<readonly ToolDefinition[]> {
  const wire = await connectWire({ transport: httpWire({ url: location.origin, key }), key });
  try {
    return await wire.tools();
  } finally {
    void wire.close();
  }
}
