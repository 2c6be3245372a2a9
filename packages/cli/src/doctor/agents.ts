import { accessSync, constants, existsSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, isAbsolute, join, sep } from 'node:path';
import { nearest } from '@dragoman/protocols';
import type { Config } from '@dragoman/server';
import { broken, type Finding, sound } from './finding.ts';

type AgentConfig = NonNullable<Config['agents']>[string];

/** Whether the agents of the configuration are where it says. Nothing is sent to them and nothing is run. */
export async function checkAgents({ agents = {}, default_agent }: Config, path: string): Promise<Finding[]> {
  const ids = Object.keys(agents);
  const findings = await Promise.all(
    Object.entries(agents).map(async ([id, agent]) => {
      const trouble = await troubleWith(agent, path);
      const check = `agent ${id}`;
      return trouble === undefined ? sound(check, 'is there') : broken(check, trouble, `correct agents.${id}`);
    }),
  );
  if (default_agent !== undefined && !ids.includes(default_agent)) findings.push(unknownDefault(default_agent, ids));
  return findings;
}

function unknownDefault(name: string, ids: readonly string[]): Finding {
  const close = nearest(name, ids);
  const fix =
    close === undefined ? `add it under agents, or: npx dragoman agents add ${name}` : `did you mean ${close}?`;
  return broken('default_agent', `default_agent names ${JSON.stringify(name)}, which is not among agents`, fix);
}

async function troubleWith({ driver, module, url, command }: AgentConfig, path: string): Promise<string | undefined> {
  if (driver === 'module') {
    return module !== undefined && existsSync(module)
      ? undefined
      : `there is no file ${module ?? '(module is missing)'}`;
  }
  if (driver === 'stdio') {
    return command !== undefined && isProgram(command, path)
      ? undefined
      : `there is no program ${command ?? '(command is missing)'}`;
  }
  if (url === undefined || !URL.canParse(url))
    return `url must be where it listens; got ${JSON.stringify(url ?? null)}`;
  return (await answers(new URL(url))) ? undefined : `nothing answers at ${url}`;
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
