import { createServer } from 'node:net';
import { createClient, DragomanError } from '@dragoman/client';
import type { Config } from '@dragoman/server';
import { PROGRAM } from '../command.ts';
import { remedyFor } from '../connection.ts';
import { DEFAULT_HOST } from '../environment.ts';
import { type HolderHealth, portHolder } from '../serve/port-holder.ts';
import { OTHER_PORTS } from '../serve/start-trouble.ts';
import { broken, type DoctorFinding, sound } from './finding.ts';

export interface ServerPlace {
  readonly url: string;
  /** Whether the user gave the address. Otherwise it is where a server would listen. */
  readonly isGiven: boolean;
  readonly host: string;
  readonly port: number;
}

/** Checks that a server answers, or that one could start. */
export async function checkServer(place: ServerPlace, health: HolderHealth | undefined): Promise<DoctorFinding> {
  const { url, isGiven, host, port } = place;
  if (health?.isDragoman === true) {
    return sound('server', `healthy, version ${health.version ?? 'unknown'}, at ${url}`);
  }
  if (isGiven) {
    return health === undefined
      ? broken('server', `cannot connect to ${url}`, `start it with: ${PROGRAM} serve`)
      : broken('server', `the program at ${url} is not Dragoman`, 'check --url');
  }
  if (port === 0 || (await canListen(host, port))) {
    const free = port === 0 ? 'port 0: the system will pick a free port' : `port ${port} on ${host} is free`;
    return sound('port', `${free}; no server runs there yet (${PROGRAM} serve starts one)`);
  }
  const { who } = await portHolder({ host, port });
  return broken('port', `port ${port} on ${host} is taken by ${who}`, `${PROGRAM} serve --port 0`);
}

/** Checks that the other ports of the configuration are free. */
export async function checkOtherPorts({ host = DEFAULT_HOST, ...config }: Config): Promise<DoctorFinding[]> {
  const findings = OTHER_PORTS.map(async (member): Promise<DoctorFinding[]> => {
    const port = config[member]?.port ?? 0;
    if (port === 0 || (await canListen(host, port))) return [];
    const { who } = await portHolder({ host, port });
    const fix = `set ${member}.port in the configuration to another port, or to 0 for any free port`;
    return [broken(`${member} port`, `port ${port} on ${host} is taken by ${who}`, fix)];
  });
  return (await Promise.all(findings)).flat();
}

/** Checks that a key is valid, by requesting something that cannot exist. */
export async function checkKey({ url, key, source, role }: KeyToTry): Promise<DoctorFinding> {
  const check = role === 'admin' ? 'admin key' : 'key';
  try {
    const client = createClient({ url, key, retry: { giveUpAfterMs: 0 } });
    if (role === 'admin') await client.admin.keys.list();
    else await client.resume('doctor').final();
    return sound(check, `the key from ${source} is valid`);
  } catch (error) {
    if (error instanceof DragomanError && error.is('not_found')) return sound(check, `the key from ${source} is valid`);
    if (error instanceof DragomanError && error.is('forbidden')) {
      return role === 'admin'
        ? broken(
            check,
            `the key from ${source} is not an admin key`,
            'use the key that the server showed on its first start',
          )
        : broken(check, `the key from ${source} is not an agent's key`, remedyFor(role));
    }
    const why =
      error instanceof DragomanError && error.is('unauthenticated')
        ? 'is unknown or revoked'
        : `does not open: ${error instanceof Error ? error.message : error}`;
    return broken(check, `the key from ${source} ${why}`, remedyFor(role));
  }
}

export interface KeyToTry {
  readonly url: string;
  readonly key: string;
  /** Where the key was found. */
  readonly source: string;
  readonly role: 'agent' | 'admin';
}

function canListen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
