import { accessSync, constants, existsSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, isAbsolute, join, sep } from 'node:path';
import { nearest } from '@dragoman/protocols';
import type { Config } from '@dragoman/server';
import { PROGRAM } from '../command.ts';
import { broken, type DoctorFinding, sound } from './finding.ts';
import { syntaxFault } from './syntax-fault.ts';

type UrlMember = 'url' | 'card' | 'base_url';

/** The members of an agent's definition that say how to reach it. */
export type ReachedAgent = Partial<
  Pick<NonNullable<Config['agents']>[string], 'driver' | 'module' | 'command' | UrlMember>
>;

/** Checks that the agents can be found where the configuration says. Sends nothing to them and runs nothing. */
export function checkAgents(
  agents: Readonly<Record<string, ReachedAgent>>,
  { path, correct }: { path: string; correct: (id: string, member: string) => string },
): Promise<DoctorFinding[]> {
  return Promise.all(
    Object.entries(agents).map(async ([id, agent]) => {
      const trouble = await troubleWith(agent, path);
      const check = `agent ${id}`;
      if (trouble === undefined) return sound(check, 'found');
      const { what, fix, member } = trouble;
      return broken(check, what, `${fix}, or ${correct(id, member)}`);
    }),
  );
}

/**
 * Checks that the agents that other members of the configuration name are defined. More agents may be added while a
 * server runs.
 */
export function checkNamedAgents(
  { default_agent, tools, mailbox }: Pick<Config, 'default_agent' | 'tools' | 'mailbox'>,
  ids: readonly string[],
): DoctorFinding[] {
  return [
    ...checkDefaultAgent(default_agent, ids),
    ...checkToolAgents(tools, ids),
    ...checkAnonymousAgents(mailbox?.anonymous, ids),
  ];
}

/** Checks that the agents in `mailbox.anonymous` are defined. */
function checkAnonymousAgents(
  listed: NonNullable<Config['mailbox']>['anonymous'],
  ids: readonly string[],
): DoctorFinding[] {
  const unknown = (Array.isArray(listed) ? listed : []).filter((name) => !ids.includes(name));
  return unknown.map((name) => {
    const close = nearest(name, ids);
    const fix =
      close === undefined ? `add it under agents, or: ${PROGRAM} agents add ${name}` : `did you mean ${close}?`;
    return broken(
      'anonymous',
      `mailbox.anonymous names ${JSON.stringify(name)}, which is not defined under agents`,
      fix,
    );
  });
}

/** Checks that the default agent is defined. */
function checkDefaultAgent(name: string | undefined, ids: readonly string[]): DoctorFinding[] {
  if (name === undefined || ids.includes(name)) return [];
  const close = nearest(name, ids);
  const fix = close === undefined ? `add it under agents, or: ${PROGRAM} agents add ${name}` : `did you mean ${close}?`;
  return [
    broken('default_agent', `default_agent names ${JSON.stringify(name)}, which is not defined under agents`, fix),
  ];
}

/** Checks that the agents behind tools are defined. */
function checkToolAgents(tools: Config['tools'], ids: readonly string[]): DoctorFinding[] {
  return (tools ?? []).flatMap((entry) => {
    if (typeof entry === 'string' || entry.agent === undefined || ids.includes(entry.agent)) return [];
    const { name, agent } = entry;
    const close = nearest(agent, ids);
    const fix =
      close === undefined ? `add it under agents, or: ${PROGRAM} agents add ${agent}` : `did you mean ${close}?`;
    return [
      broken(
        `tool ${name}`,
        `the tool ${name} is answered by ${JSON.stringify(agent)}, which is not defined under agents`,
        fix,
      ),
    ];
  });
}

interface AgentTrouble {
  readonly what: string;
  readonly fix: string;
  readonly member: 'module' | 'command' | UrlMember;
}

async function troubleWith(agent: ReachedAgent, path: string): Promise<AgentTrouble | undefined> {
  const { driver, module, command } = agent;
  if (driver === 'module') {
    const fix = 'write it: export default async function* (envelope, call) { … }';
    if (module === undefined) return { what: 'module is missing', fix, member: 'module' };
    if (!existsSync(module)) return { what: `file not found: ${module}`, fix, member: 'module' };
    const fault = syntaxFault(module);
    return fault === undefined ? undefined : { what: fault, fix: 'correct it', member: 'module' };
  }
  if (driver === 'stdio' || command !== undefined) {
    if (command !== undefined && isProgram(command, path)) return undefined;
    return { what: `program not found: ${command ?? '(command is missing)'}`, fix: 'install it', member: 'command' };
  }
  const member = URL_MEMBERS.find((name) => agent[name] !== undefined) ?? (driver === 'openai' ? 'base_url' : 'url');
  const url = agent[member];
  // An agent that dials in has no address.
  if (driver === 'e2a-ws' && url === undefined) return undefined;
  if (url === undefined || !URL.canParse(url)) {
    const what = `${member} must be a URL; got ${JSON.stringify(url ?? null)}`;
    return { what, fix: `set its ${member}`, member };
  }
  return (await answers(new URL(url))) ? undefined : { what: `cannot connect to ${url}`, fix: 'start it', member };
}

function isProgram(command: string, path: string): boolean {
  const places =
    isAbsolute(command) || command.includes(sep)
      ? [command]
      : path.split(delimiter).map((folder) => join(folder, command));
  return places.some((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function answers({ hostname, port, protocol }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const usual = protocol === 'https:' || protocol === 'wss:' ? 443 : 80;
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || usual, timeout: 2000 });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
}

const URL_MEMBERS: readonly UrlMember[] = ['url', 'card', 'base_url'];
