import { networkInterfaces } from 'node:os';
import type { Server } from '@dragoman/server';
import { shortPath } from '../short-path.ts';

/** The other addresses that a server listens on, as lines of text: the system may have chosen the ports. */
export function endpointLines(
  { url, adminUrl, wire, messages }: Endpoints,
  { folder, host }: { readonly folder: string; readonly host: string },
  interfaces: ReturnType<typeof networkInterfaces> = networkInterfaces(),
): string[] {
  const wireAddresses = [wire.url, wire.socket && shortPath(folder, wire.socket)].filter(
    (address) => address !== undefined,
  );
  return [
    ...everyAddress(host, url, interfaces)
      .filter((address) => address !== url)
      .map((address) => `           ${address}`),
    ...(adminUrl === url ? [] : [`  admin    ${adminUrl}`]),
    ...(wireAddresses.length === 0 ? [] : [`  wire     ${wireAddresses.join(', ')}`]),
    ...(messages.url === undefined ? [] : [`  messages ${messages.url}`]),
  ];
}

/** The addresses of a server that listens on all of them, from this machine and from others. */
function everyAddress(host: string, url: string, interfaces: ReturnType<typeof networkInterfaces>): string[] {
  if (host !== '0.0.0.0' && host !== '::') return [];
  const { port } = new URL(url);
  const all = Object.values(interfaces).flatMap((addresses) => addresses ?? []);
  const reached = all.filter(({ family, address, scopeid }) => {
    // A link-local address needs the name of an interface, which a URL cannot contain.
    return family === 'IPv4' ? !address.startsWith('169.254.') : host === '::' && (scopeid ?? 0) === 0;
  });
  return reached.map(({ family, address }) => `http://${family === 'IPv4' ? address : `[${address}]`}:${port}`);
}

type Endpoints = Pick<Server, 'url' | 'adminUrl'> & {
  readonly wire: Pick<Server['wire'], 'url' | 'socket'>;
  readonly messages: Pick<Server['messages'], 'url'>;
};
