import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import type { Failure } from '@dragoman/protocols';
import { SilentLog } from '../../test-support/silent-log.ts';
import { systemClock } from '../../test-support/system-clock.ts';
import { failureOf } from '../refusals/refused.ts';
import type { InboundAnswer, OutboundRequest } from './gate.ts';
import { type GateOptions, type NetworkGate, openGate } from './network-gate.ts';

/** The setup of gate tests: servers on loopback and gates to them, all closed at the end. */
export class GateBench implements AsyncDisposable {
  readonly log = new SilentLog();
  readonly #servers: (Server | ReturnType<typeof createTcpServer>)[] = [];
  readonly #gates: NetworkGate[] = [];

  gate(options: Partial<GateOptions> = {}): NetworkGate {
    const gate = openGate({ clock: systemClock, log: this.log, ...options });
    this.#gates.push(gate);
    return gate;
  }

  /** A gate through which every server of this bench can be reached. */
  open(options: Partial<GateOptions> = {}): NetworkGate {
    const own = this.ports.map((port) => ({ host: '127.0.0.1', port }));
    return this.gate({
      ...options,
      allow: [...own, ...(options.allow ?? [])],
      callbacks: [...own, ...(options.callbacks ?? [])],
    });
  }

  get ports(): number[] {
    return this.#servers.map((server) => (server.address() as AddressInfo).port);
  }

  serve(listener: RequestListener, tls?: ServerOptions): Promise<number> {
    return this.#listen(tls === undefined ? createServer(listener) : createTlsServer(tls, listener));
  }

  serveTcp(listener: (socket: Socket) => void): Promise<number> {
    return this.#listen(createTcpServer(listener));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#gates.map((gate) => gate[Symbol.asyncDispose]()));
    for (const server of this.#servers) {
      if ('closeAllConnections' in server) server.closeAllConnections();
      server.close();
    }
  }

  async #listen(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }
}

/** A request with defaults, which `rest` replaces. */
export function asking(url: string, rest: Partial<OutboundRequest> = {}): OutboundRequest {
  return {
    caller: 'ada',
    method: 'GET',
    url,
    allowList: 'allow',
    timeoutMs: 10_000,
    maxBytes: 5 * 1024 * 1024,
    ...rest,
  };
}

export async function textOf({ body }: InboundAnswer): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** The failure with which a request ends, including while its body is read. */
export async function failureFrom(answer: Promise<InboundAnswer | unknown>): Promise<Failure> {
  try {
    const got = await answer;
    if (typeof got === 'object' && got !== null && 'body' in got) await textOf(got as InboundAnswer);
  } catch (error) {
    const failure = failureOf(error);
    if (failure === undefined) throw error;
    return failure;
  }
  throw new Error('it did not fail');
}
