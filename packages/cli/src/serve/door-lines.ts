import type { Server } from '@dragoman/server';
import { shortPath } from '../short-path.ts';

/** Where a server listens beside its own address, for people: nobody else knows a port that the system chose. */
export function doorLines({ url, adminUrl, wire, messages }: Doors, folder: string): string[] {
  const wireDoors = [wire.url, wire.socket && shortPath(folder, wire.socket)].filter((door) => door !== undefined);
  return [
    ...(adminUrl === url ? [] : [`  admin    ${adminUrl}`]),
    ...(wireDoors.length === 0 ? [] : [`  wire     ${wireDoors.join(', ')}`]),
    ...(messages.url === undefined ? [] : [`  messages ${messages.url}`]),
  ];
}

type Doors = Pick<Server, 'url' | 'adminUrl'> & {
  readonly wire: Pick<Server['wire'], 'url' | 'socket'>;
  readonly messages: Pick<Server['messages'], 'url'>;
};
