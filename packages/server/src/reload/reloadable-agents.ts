import { isDeepStrictEqual } from 'node:util';
import { type Agent, type DriverDefinition, type Engine, referencedFiles } from '@dragoman/core';
import type { AnsweringAgents, ConfiguredAgents } from '../agents/answering-agents.ts';
import { ModuleFiles } from './module-files.ts';
import type { Reloadable } from './reload.ts';

export interface ReloadableAgentsOptions {
  readonly agents: AnsweringAgents;
  readonly engine: Engine;
  readonly open: (id: string, definition: DriverDefinition) => Promise<Agent>;
  readonly place: (agent: Agent, definition: DriverDefinition) => void;
}

/**
 * Opens the agents that are new or changed. Leaves alone unchanged agents, and those that the administration put in
 * place.
 */
export function reloadableAgents({ agents, engine, open, place }: ReloadableAgentsOptions): Reloadable {
  const isAdministered = (id: string) => engine.callers.find(id)?.driver !== undefined;
  let files = filesOf(agents.configured);
  return {
    names: ['agents'],
    isStale: () => files.anyStale,
    prepare: async ({ agents: wanted }) => {
      const { configured } = agents;
      const isSame = (id: string, definition: DriverDefinition) =>
        isDeepStrictEqual(definition, configured[id]) && !filesIn(definition).some((path) => files.isStale(path));
      // Recorded before the files are read, so that a file that changes in between is stale the next time.
      const nextFiles = filesOf(wanted);
      const opened: { readonly agent: Agent; readonly definition: DriverDefinition }[] = [];
      const drop = async () => {
        await Promise.all(opened.map(({ agent }) => agent[Symbol.asyncDispose]()));
      };
      try {
        for (const [id, definition] of Object.entries(wanted)) {
          if (isAdministered(id) || isSame(id, definition)) continue;
          if (!Object.hasOwn(configured, id) && engine.router.has(id)) throw taken(id);
          opened.push({ agent: await open(id, definition), definition });
        }
      } catch (error) {
        await drop();
        throw error;
      }
      return {
        drop,
        put: () => {
          const gone = Object.keys(configured).filter((id) => !Object.hasOwn(wanted, id) && !isAdministered(id));
          for (const id of gone) engine.retireAgent(id);
          for (const { agent, definition } of opened) place(agent, definition);
          agents.configure(wanted);
          files = nextFiles;
        },
      };
    },
  };
}

function filesOf(agents: ConfiguredAgents): ModuleFiles {
  return new ModuleFiles(Object.values(agents).flatMap(filesIn));
}

/** The files that an agent is made from: its module, and those that hold its secrets. */
function filesIn({ module, env = {}, headers = {}, key = '' }: DriverDefinition): string[] {
  const secrets = [env, headers, { key }].flatMap((texts) => referencedFiles(texts));
  return [...(module === undefined ? [] : [module]), ...secrets];
}

/**
 * A registered agent has this id. If both were allowed, the caller could remove the configured agent by unregistering
 * its own.
 */
function taken(id: string): Error {
  return new Error(
    `agents.${id}: this name is already used, by an agent that registered itself or by messages.tools_agent; choose another name`,
  );
}
