import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls';
import type { Clock } from '../ports/ports.ts';
import { isSameAddress } from './address.ts';
import { trustContext } from './trust.ts';

/** The judged address to connect to. For TLS, `host` is the name that the server must prove. */
export interface Dialling {
  readonly address: string;
  readonly port: number;
  readonly tls: { readonly host: string } | undefined;
}

/** Opens connections to addresses, never to names, so that no name is looked up again after it was judged. */
export class Dialler {
  readonly #clock: Clock;
  readonly #ca: readonly string[];
  readonly #connectMs: number;
  #trust: SecureContext | undefined;

  constructor({ clock, ca, connectMs }: { clock: Clock; ca: readonly string[]; connectMs: number }) {
    this.#clock = clock;
    this.#ca = ca;
    this.#connectMs = connectMs;
  }

  dial({ address, port, tls }: Dialling): Promise<Socket | TLSSocket> {
    return new Promise((resolve, reject) => {
      const socket = tls === undefined ? connectTcp(port, address) : this.#connectTls(address, port, tls.host);
      const late = this.#clock.after(this.#connectMs, () => socket.destroy(withCode('ETIMEDOUT', 'connect timed out')));
      const failed = (error: Error) => {
        late();
        reject(error);
      };
      socket.setNoDelay(true);
      socket.once('error', failed);
      socket.once(tls === undefined ? 'connect' : 'secureConnect', () => {
        late();
        socket.off('error', failed);
        // The operating system reports the actual address.
        if (isSameAddress(socket.remoteAddress ?? '', address)) return resolve(socket);
        socket.destroy();
        reject(withCode('EPEER', `dialled ${address} and reached ${socket.remoteAddress}`));
      });
    });
  }

  #connectTls(address: string, port: number, host: string): TLSSocket {
    this.#trust ??= trustContext(this.#ca);
    const literal = host.startsWith('[') ? host.slice(1, -1) : host;
    return connectTls({
      host: address,
      port,
      // A certificate of an address is checked by the address; only names are sent to the server (SNI).
      ...(literal !== address && { servername: host }),
      secureContext: this.#trust,
      ALPNProtocols: ['http/1.1'],
      // Explicit, so that no environment variable can turn it off.
      rejectUnauthorized: true,
    });
  }
}

function withCode(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
