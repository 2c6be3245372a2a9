import { networkInterfaces } from 'node:os';
import type { Server } from '@dragoman/server';
import { shortPath } from '../short-path.ts';

/** Where a server listens beside its own address, for people: nobody else knows a port that the system chose. */
export function doorLines(
  { url, adminUrl, wire, messages }: Doors,
  { folder, host }: { readonly folder: string; readonly host: string },
  interfaces: ReturnType<typeof networkInterfaces> = networkInterfaces(),
): string[] {
  const wireDoors = [wire.url, wire.socket && shortPath(folder, wire.socket)].filter((door) => door !== undefined);
  return [
    ...everyAddress(host, url, interfaces).map((address) => `           ${address}`),
    ...(adminUrl === url ? [] : [`  admin    ${adminUrl}`]),
    ...(wireDoors.length === 0 ? [] : [`  wire     ${wireDoors.join(', ')}`]),
    ...(messages.url === undefined ? [] : [`  messages ${messages.url}`]),
  ];
}

/** Of a server that listens everywhere: where it is reached, on this machine and from others. */
function everyAddress(host: string, url: string, interfaces: ReturnType<typeof networkInterfaces>): string[] {
  if (host !== '0.0.0.0' && host !== '::') return [];
  const { port } = new URL(url);
  const all = Object.values(interfaces).flatMap((addresses) => addresses ?? []);
  const reached = all.filter(({ family, address, scopeid }) => {
    // A link-local one needs the name of an interface, which a URL cannot say.
    return family === 'IPv4' ? !address.startsWith('169.254.') : host === '::' && (scopeid ?? 0) === 0;
  });
  return reached.map(({ family, address }) => `http://${family === 'IPv4' ? address : `[${address}]`}:${port}`);
}

type Doors = Pick<Server, 'url' | 'adminUrl'> & {
  readonly wire: Pick<Server['wire'], 'url' | 'socket'>;
  readonly messages: Pick<Server['messages'], 'url'>;
};
