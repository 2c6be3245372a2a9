import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import {
  ClusterShape,
  decodeHostPort,
  isPostgresUrl,
  isWorkflowName,
  RESERVED_AGENT_IDS,
  withReferencedFiles,
} from '@dragoman/core';
import { accept, type Issue, issuesOf, type JsonObject, type Outcome, reject } from '@dragoman/protocols';
import type { Document } from 'yaml';
import { isNetwork } from '../edges/address.ts';
import { Config as validateConfig } from '../generated/config.js';
import { type Config, ConfigShape } from './config-schema.ts';
import { placed, yamlIssues } from './yaml-issues.ts';
import { yamlLibrary } from './yaml-library.ts';

/** Reads `dragoman.yaml`. Paths in it are taken from the file's own folder. */
export function readConfig(path: string): Outcome<Config> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why = code === 'ENOENT' ? 'file not found' : `it cannot be read (${code})`;
    return reject({
      pointer: '',
      code: 'unreadable',
      message: `${path}: ${why}`,
      suggestion: 'check the path after --config',
    });
  }
  const parsed = parseConfig(text);
  return parsed.ok ? accept(withPathsFrom(dirname(resolve(path)), parsed.value)) : parsed;
}

/** The configuration in a YAML text, or every problem with its line and column. */
export function parseConfig(text: string): Outcome<Config> {
  const { LineCounter, parseDocument } = yamlLibrary();
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  if (document.errors.length > 0) return reject(...yamlIssues(document, lines));
  const value = (document.toJS({ maxAliasCount: 10 }) ?? {}) as JsonObject;
  const issues: Issue[] = issuesOf(validateConfig, ConfigShape, value).map(worded);
  if (issues.length === 0) issues.push(...SENSE.flatMap((issuesIn) => issuesIn(value as Config)));
  if (issues.length === 0) return accept(value as Config);
  const offsets = offsetsOf(document);
  const offsetOf = ({ pointer }: Issue) => offsets.get(pointer) ?? offsets.get(parentOf(pointer)) ?? 0;
  return reject(...issues.map((issue) => placed(issue, lines.linePos(offsetOf(issue)))));
}

/** Words an issue for readers of a configuration file. */
function worded(issue: Issue): Issue {
  const [was, is] = issue.pointer === '/store' ? STORE_WORDS : ROOT_WORDS;
  return { ...issue, message: issue.message.replace(was, is) };
}

const ROOT_WORDS = [/^the message must be an object/, 'the configuration must be a mapping'] as const;
const STORE_WORDS = [/must match \S+(?=;)/, 'must be sqlite, memory or a postgres:// URL'] as const;

/** Refuses the reserved names that the administration of agents refuses, too. */
function agentIssues({ agents = {} }: Config): Issue[] {
  const reserved = Object.keys(agents).filter((id) => RESERVED_AGENT_IDS.has(id.toLowerCase()));
  return reserved.map((id) => {
    const message = `agents must not have ${JSON.stringify(id)}: the name is reserved`;
    return { pointer: `/agents/${id}`, code: 'reserved', message, suggestion: 'choose another name' };
  });
}

function allowIssues({ gate = {} }: Config): Issue[] {
  return (['allow', 'callbacks'] as const).flatMap((list) =>
    (gate[list] ?? []).flatMap((host, index) => {
      const outcome = decodeHostPort(host, `/gate/${list}/${index}`);
      return outcome.ok ? [] : outcome.issues;
    }),
  );
}

function proxyIssues({ trusted_proxies = [] }: Config): Issue[] {
  return trusted_proxies.flatMap((entry, index): Issue[] => {
    if (isNetwork(entry)) return [];
    const message = `trusted_proxies must have addresses or networks; got ${JSON.stringify(entry)}`;
    return [
      { pointer: `/trusted_proxies/${index}`, code: 'proxy', message, suggestion: 'such as 10.0.0.7 or 10.0.0.0/8' },
    ];
  });
}

function anonymousIssues({ mailbox: { anonymous } = {} }: Config): Issue[] {
  // "*" would open every agent that is added later.
  const isOpenToAll = anonymous === true || (Array.isArray(anonymous) && anonymous.includes('*'));
  if (!isOpenToAll) return [];
  const got = anonymous === true ? 'true' : '"*"';
  const message = `mailbox.anonymous must list each agent by its id; got ${got}`;
  const suggestion = 'list the agents that senders without a key may use, such as anonymous: [echo]';
  return [{ pointer: '/mailbox/anonymous', code: 'anonymous', message, suggestion }];
}

function workflowIssues({ workflows }: Config): Issue[] {
  const wrong = Object.keys(workflows?.stored ?? {}).filter((name) => !isWorkflowName(name));
  return wrong.map((name) => {
    const message = `workflows.stored must have names of letters, digits, ".", "_" and "-"; got ${JSON.stringify(name)}`;
    return { pointer: `/workflows/stored/${name}`, code: 'name', message, suggestion: 'choose another name' };
  });
}

function clusterIssues({ cluster, store }: Config): Issue[] {
  if (cluster === undefined) return [];
  // Where it is absent, DRAGOMAN_STORE may name it.
  if (store === undefined || isPostgresUrl(store)) return beatIssues(cluster);
  const message = `cluster needs a store in PostgreSQL; store is ${JSON.stringify(store)}`;
  const suggestion = 'write store: postgres://user@host/database, or leave cluster out';
  return [{ pointer: '/cluster', code: 'cluster', message, suggestion }];
}

/** One late heartbeat must not keep a node from working, and a lost connection must be noticed before the node is declared dead. */
function beatIssues(cluster: NonNullable<Config['cluster']>): Issue[] {
  const { beat_ms: beat, ttl_ms: ttl, grace_ms: grace } = ClusterShape.properties;
  const { beat_ms = beat.default, ttl_ms = ttl.default, grace_ms = grace.default } = cluster;
  const most = Math.floor(Math.min(ttl_ms / 4, grace_ms / 2));
  if (beat_ms <= most) return [];
  const message = `cluster.beat_ms must be at most a quarter of ttl_ms (${ttl_ms}) and half of grace_ms (${grace_ms}); it is ${beat_ms}`;
  return [{ pointer: '/cluster/beat_ms', code: 'cluster', message, suggestion: `write beat_ms: ${most}` }];
}

/** Checks for errors that the schema cannot express. */
const SENSE: readonly ((config: Config) => Issue[])[] = [
  agentIssues,
  allowIssues,
  clusterIssues,
  proxyIssues,
  anonymousIssues,
  workflowIssues,
];

/** The offset of each key in the text, by JSON pointer. */
function offsetsOf(document: Document): Map<string, number> {
  const { isPair, isScalar, visit } = yamlLibrary();
  const offsets = new Map<string, number>();
  visit(document, {
    Pair(_, pair, path) {
      if (!isScalar(pair.key)) return;
      const keys = [...path, pair].filter(isPair).map((step) => (isScalar(step.key) ? String(step.key.value) : ''));
      offsets.set(`/${keys.join('/')}`, pair.key.range?.[0] ?? 0);
    },
  });
  return offsets;
}

function parentOf(pointer: string): string {
  return pointer.slice(0, Math.max(0, pointer.lastIndexOf('/')));
}

function withPathsFrom(folder: string, config: Config): Config {
  const from = (path: string) => (isAbsolute(path) ? path : resolve(folder, path));
  const { agents, gate, mcp_servers, tools, wire, workflows } = config;
  return {
    ...config,
    ...(agents !== undefined && {
      agents: mapped(agents, (agent) => ({
        ...agent,
        ...secretsFrom(agent, from),
        ...(agent.module !== undefined && { module: from(agent.module) }),
        ...(agent.cwd !== undefined && { cwd: from(agent.cwd) }),
        ...(agent.workspaces !== undefined && { workspaces: agent.workspaces.map(from) }),
      })),
    }),
    ...(mcp_servers !== undefined && {
      mcp_servers: mapped(mcp_servers, (server) => ({ ...server, ...secretsFrom(server, from) })),
    }),
    ...(gate?.ca !== undefined && { gate: { ...gate, ca: [gate.ca].flat().map(from) } }),
    ...(tools !== undefined && {
      tools: tools.map((tool) => {
        if (typeof tool === 'string') return from(tool);
        return tool.workflow === undefined ? tool : { ...tool, workflow: from(tool.workflow) };
      }),
    }),
    ...(workflows !== undefined && {
      workflows: {
        ...workflows,
        ...(workflows.operations !== undefined && { operations: workflows.operations.map(from) }),
        ...(workflows.stored !== undefined && {
          stored: mapped(workflows.stored, (one) => ({ ...one, file: from(one.file) })),
        }),
      },
    }),
    ...(wire !== undefined && {
      wire: {
        ...wire,
        ...(wire.socket !== undefined && { socket: from(wire.socket) }),
        ...(wire.plugins !== undefined && { plugins: wire.plugins.map(from) }),
        ...(wire.environments !== undefined && { environments: wire.environments.map(from) }),
        ...(wire.proc !== undefined && {
          proc: {
            ...wire.proc,
            commands: mapped(wire.proc.commands, (command) => ({
              ...command,
              ...secretsFrom({ env: command.env ?? {} }, from),
            })),
          },
        }),
      },
    }),
  };
}

/** Resolves the paths of the files that an agent, an MCP server or a command refers to. */
function secretsFrom<Headers extends Record<string, string | { credential: string }>>(
  { env, headers, key }: { env?: Record<string, string>; headers?: Headers; key?: string },
  from: (path: string) => string,
) {
  return {
    ...(key !== undefined && withReferencedFiles({ key }, from)),
    ...(env !== undefined && { env: withReferencedFiles(env, from) }),
    ...(headers !== undefined && { headers: withReferencedFiles(headers, from) }),
  };
}

function mapped<T>(members: Readonly<Record<string, T>>, change: (member: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, change(member)]));
}
