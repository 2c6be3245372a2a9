import { timeoutError } from './wire-errors.ts';
import type { LinkHandlers, WireLink, WireTransport } from './wire-transport.ts';

export interface OpenLinkOptions {
  readonly transport: WireTransport;
  readonly handlers: LinkHandlers;
  readonly withinMs: number;
  /** Aborts when the caller gives up. */
  readonly closing: AbortSignal;
}

/** Opens a link with a timeout: a host may accept a connection and never answer. */
export function openLink({ transport, handlers, withinMs, closing }: OpenLinkOptions): Promise<WireLink> {
  const attempt = new AbortController();
  const opening = transport.open(handlers, attempt.signal);
  return new Promise((resolve, reject) => {
    let isGivenUp = false;
    const giveUp = (reason: unknown) => {
      isGivenUp = true;
      over();
      attempt.abort(reason);
      reject(reason);
    };
    const onClosing = () => giveUp(closing.reason);
    const timer = setTimeout(() => giveUp(timeoutError('handshake/req', withinMs)), withinMs);
    const over = () => {
      clearTimeout(timer);
      closing.removeEventListener('abort', onClosing);
    };
    closing.addEventListener('abort', onClosing, { once: true });
    opening.then(
      (link) => {
        if (isGivenUp) return link.close();
        over();
        return resolve(link);
      },
      (error: unknown) => {
        over();
        reject(error);
      },
    );
  });
}
