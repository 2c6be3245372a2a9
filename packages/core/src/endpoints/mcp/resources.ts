import { type Json, type JsonObject, newEnvelope, newProvenance } from '@dragoman/protocols';
import type { Principal } from '../../call/principal.ts';
import type { Engine } from '../../engine/engine.ts';
import type { KnowledgeBases } from '../../knowledge/bases.ts';
import type { Ids, Log } from '../../ports/ports.ts';
import { refuse } from '../../refusals/refused.ts';
import { frameFrom } from '../../runs/frame-text.ts';
import type { Store } from '../../store/store.ts';
import type { StoredWorkflows } from '../../targets/stored-workflows.ts';
import type { McpCall } from './mcp-call.ts';
import { foldOf } from './request-fold.ts';
import type { Upstream } from './upstream.ts';

export interface ResourcesOptions {
  readonly engine: Engine;
  readonly store: Pick<Store, 'sessions'>;
  readonly stored: Pick<StoredWorkflows, 'list'>;
  readonly bases: Pick<KnowledgeBases, 'listFor'>;
  readonly ids: Ids;
  readonly log: Log;
  readonly upstream: Upstream;
}

type Asker = Pick<McpCall, 'principal' | 'agentId' | 'signal'>;

/**
 * Answers, conversations, stored workflows and documents of a caller as resources, and the resources of the MCP servers
 * in the configuration.
 */
export class McpResources {
  readonly #options: ResourcesOptions;

  constructor(options: ResourcesOptions) {
    this.#options = options;
  }

  /**
   * The recent conversations, the workflows and documents that this caller may use, and the resources of other servers.
   */
  async list(asker: Asker): Promise<JsonObject[]> {
    const { store, stored, bases, upstream } = this.#options;
    const { principal } = asker;
    const { rows } = await store.sessions.list(principal.id, { offset: 0, limit: MOST_SESSIONS });
    return [
      ...rows.map(({ agentId, sessionId }) => ({
        uri: `e2a://sessions/${encodeURIComponent(agentId)}/${encodeURIComponent(sessionId)}`,
        name: `${agentId}: ${sessionId}`,
        description: `The conversation ${sessionId} with the agent ${agentId}.`,
        mimeType: 'text/plain',
      })),
      ...stored.list(principal).map(({ name, description }) => ({
        uri: `a2e://workflows/${encodeURIComponent(name)}`,
        name,
        description,
        mimeType: 'application/jsonl',
      })),
      ...bases.listFor(principal).flatMap(({ id, documents }) =>
        documents.slice(0, MOST_DOCUMENTS).map((document) => ({
          uri: `knowledge://${encodeURIComponent(id)}/${encodeURIComponent(document.id)}`,
          name: document.title ?? document.id,
          description: `A document of the knowledge base ${id}.`,
          mimeType: 'text/plain',
        })),
      ),
      ...(asker.agentId === undefined ? await upstream.resources(asker) : []),
    ];
  }

  async templates(asker: Asker): Promise<JsonObject[]> {
    const others = asker.agentId === undefined ? await this.#options.upstream.templates(asker) : [];
    return [...RESOURCE_TEMPLATES.map((template) => ({ ...template })), ...others.map(({ definition }) => definition)];
  }

  async read(uri: string, asker: Asker): Promise<JsonObject> {
    const { principal } = asker;
    for (const [pattern, read] of READERS) {
      const match = pattern.exec(uri);
      if (match === null) continue;
      const content = await read(this, match.slice(1).map(decoded), principal);
      if (content !== undefined) return { contents: [{ uri, ...content }] };
    }
    const other = asker.agentId === undefined ? await this.#options.upstream.read(uri, asker) : undefined;
    if (other !== undefined) return other;
    const known = RESOURCE_TEMPLATES.map(({ uriTemplate }) => uriTemplate).join(', ');
    refuse(
      'invalid_message',
      { suggestions: [`use ${known}`] },
      `There is no resource ${JSON.stringify(uri.slice(0, 256))}.`,
    );
  }

  async request(requestId: string, { id: owner }: Principal, asFrames: boolean): Promise<JsonObject | undefined> {
    const known = await this.#options.engine.runs.find({ owner, requestId });
    if (known === undefined) return undefined;
    const fold = foldOf(requestId, known.envelope);
    const lines: string[] = [];
    for (let after = -1; ; ) {
      const rows = await known.page({ after, limit: 1000, maxBytes: 1 << 20 });
      for (const { text } of rows) {
        fold.apply(frameFrom(text));
        if (asFrames) lines.push(text);
      }
      const last = rows.at(-1);
      if (last === undefined || last.isFinal) break;
      after = last.sequence;
    }
    if (asFrames) return { mimeType: 'application/x-ndjson', text: `${lines.join('\n')}\n` };
    const { content } = fold.result() as { content: { readonly text?: string }[] };
    return { mimeType: 'text/plain', text: content.map(({ text = '' }) => text).join('\n') };
  }

  async session(agentId: string, sessionId: string, principal: Principal): Promise<JsonObject | undefined> {
    const { engine, ids, log } = this.#options;
    const envelope = newEnvelope({
      request_id: `mcp_${ids.sortable()}`,
      method: 'history.get',
      params: { session_id: sessionId },
      agent_ref: { id: agentId },
      channel: 'mcp',
      provenance: newProvenance({ source_protocol: 'mcp', converter: 'dragoman' }),
    });
    // Unlike the other resources, a conversation is read by a recorded request, so it counts against the limits.
    const final = await engine.handle(envelope, { principal, signal: new AbortController().signal, log }).final();
    const { result } = final === undefined ? {} : (frameFrom(final.text).body as { result?: { messages?: Message[] } });
    if (result?.messages === undefined || result.messages.length === 0) return undefined;
    const messages = result.messages
      .toReversed()
      .flatMap(({ params, answer }) => [
        `caller: ${textOf(params['content'] ?? params)}`,
        ...(answer === null ? [] : [`agent: ${textOf(answer)}`]),
      ]);
    return { mimeType: 'text/plain', text: messages.join('\n\n') };
  }

  workflow(name: string, principal: Principal): JsonObject | undefined {
    const found = this.#options.stored.list(principal).find((one) => one.name === name);
    return found && { mimeType: 'application/jsonl', text: found.text };
  }

  document(baseId: string, documentId: string, principal: Principal): JsonObject | undefined {
    const base = this.#options.bases.listFor(principal).find(({ id }) => id === baseId);
    const found = base?.documents.find(({ id }) => id === documentId);
    return found && { mimeType: 'text/plain', text: found.text };
  }
}

/** A turn in the result of `history.get`, newest first. */
interface Message {
  readonly params: JsonObject;
  readonly answer: Json;
}

function textOf(content: Json): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}

type Read = (
  resources: McpResources,
  parts: readonly string[],
  principal: Principal,
) => JsonObject | undefined | Promise<JsonObject | undefined>;

const READERS: readonly (readonly [RegExp, Read])[] = [
  [
    /^e2a:\/\/requests\/([^/?]+)(\?frames)?$/,
    (resources, [id = '', frames], principal) => resources.request(id, principal, frames !== ''),
  ],
  [
    /^e2a:\/\/sessions\/([^/?]+)\/([^/?]+)$/,
    (resources, [agent = '', session = ''], principal) => resources.session(agent, session, principal),
  ],
  [/^a2e:\/\/workflows\/([^/?]+)$/, (resources, [name = ''], principal) => resources.workflow(name, principal)],
  [
    /^knowledge:\/\/([^/?]+)\/([^/?]+)$/,
    (resources, [base = '', id = ''], principal) => resources.document(base, id, principal),
  ],
];

export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: 'e2a://requests/{request_id}',
    name: 'answer',
    description: 'The answer of a request. With ?frames: its frames as JSON lines.',
  },
  {
    uriTemplate: 'e2a://sessions/{agent}/{session}',
    name: 'conversation',
    description: 'The messages of a conversation with an agent.',
  },
  { uriTemplate: 'a2e://workflows/{name}', name: 'workflow', description: 'A stored workflow as JSON lines.' },
  { uriTemplate: 'knowledge://{base}/{document}', name: 'document', description: 'A document of a knowledge base.' },
] as const;

function decoded(part: string | undefined): string {
  try {
    return decodeURIComponent(part ?? '');
  } catch {
    return part ?? '';
  }
}

const MOST_SESSIONS = 50;
/** The listed documents of each knowledge base. search_knowledge finds the others. */
const MOST_DOCUMENTS = 100;
