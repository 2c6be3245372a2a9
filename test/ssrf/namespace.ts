import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';

/** The reason why this is not an isolated network; `undefined` when it is one. */
export function connectedTo(): string | undefined {
  const others = Object.keys(networkInterfaces()).filter((name) => name !== 'lo');
  if (others.length > 0) return `there are interfaces beside loopback: ${others.join(', ')}`;
  const devices = [...readFileSync('/proc/net/dev', 'utf8').matchAll(/^\s*([\w.-]+):/gm)].map(([, name]) => name);
  const up = devices.filter((name) => name !== 'lo');
  if (up.length > 0) return `there are devices beside loopback: ${up.join(', ')}`;
  const routes = readFileSync('/proc/net/route', 'utf8').trim().split('\n').slice(1);
  return routes.some((route) => route.split(/\s+/)[1] === '00000000') ? 'there is a default route' : undefined;
}
