import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The process that listens on a port, if it can be determined. */
export interface PortHolder {
  /** The process as part of the sentence "port 7420 is held by …". */
  readonly who: string;
  readonly isDragoman: boolean;
}

export async function portHolder({ host, port }: { host: string; port: number }): Promise<PortHolder> {
  const process = listeningProcess(port);
  const health = await healthAt(urlOf({ host, port }));
  const what =
    health === undefined ? 'another program' : health.isDragoman ? `a Dragoman server` : 'another web server';
  const who = process === undefined ? what : `${what}, process ${process.pid} (${process.name})`;
  return { who, isDragoman: health?.isDragoman ?? false };
}

export interface HolderHealth {
  readonly isDragoman: boolean;
  readonly version: string | undefined;
}

/** The answer of `/health`; `undefined` when no HTTP server listens there. */
export async function healthAt(url: string): Promise<HolderHealth | undefined> {
  try {
    const response = await fetch(new URL('/health', url), { signal: AbortSignal.timeout(1000), redirect: 'manual' });
    const text = (await response.text()).slice(0, 10_000);
    const { status, service, version } = jsonIn(text);
    // The A2E specification defines this name of the service.
    const isDragoman = status === 'healthy' && service === 'a2e-server';
    return { isDragoman, version: typeof version === 'string' ? version : undefined };
  } catch {
    return undefined;
  }
}

/** The URL for a client on this machine. A server that listens on every address is reached at the loopback address. */
export function urlOf({ host, port }: { host: string; port: number }): string {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}

function jsonIn(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** The ports that a process listens on. Empty if it is another user's process, or the system is not Linux. */
export function portsOf(pid: number): number[] {
  try {
    const links = new Set(linksOf(pid));
    return listeningSockets()
      .filter(({ link }) => links.has(link))
      .map(({ port }) => port);
  } catch {
    return [];
  }
}

/** The process that listens on a port. `undefined` if it is another user's, or the system is not Linux. */
function listeningProcess(port: number): { pid: string; name: string } | undefined {
  try {
    const sockets = new Set(
      listeningSockets()
        .filter((socket) => socket.port === port)
        .map(({ link }) => link),
    );
    if (sockets.size === 0) return undefined;
    const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && linksOf(name).some((at) => sockets.has(at)));
    return pid === undefined ? undefined : { pid, name: readFileSync(`/proc/${pid}/comm`, 'utf8').trim() };
  } catch {
    return undefined;
  }
}

/** Every listening TCP socket, with the target of its links below `/proc/PID/fd`. */
function listeningSockets(): { readonly port: number; readonly link: string }[] {
  return ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap((table) => readFileSync(table, 'utf8').split('\n'))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state]) => state === LISTENS)
    .map(([, local = '', ...fields]) => ({
      port: Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16),
      link: `socket:[${fields[7]}]`,
    }));
}

function linksOf(pid: number | string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
  } catch {
    // The process belongs to another user, or has just ended.
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** The state of a listening socket in `/proc/net/tcp`. */
const LISTENS = '0A';
