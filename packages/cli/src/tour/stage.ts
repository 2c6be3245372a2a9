import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type Callback, type Client, createClient } from '@dragoman/client';
import type { MailboxResponse } from '@dragoman/protocols/a2a-mailbox';
import type { DevKeys } from '../dev-keys.ts';
import type { ListenCertificate } from '../listen/certificate.ts';
import { Receiver } from '../listen/receiver.ts';

/** What the tour uses: a server with the demo, its clients, and a receiver of callbacks. */
export interface Stage {
  readonly url: string;
  readonly key: string;
  /** A client with the key of the demo. */
  readonly client: Client;
  readonly admin: Client;
  readonly callbacks: Callbacks;
  /** The folder with the demo's workflows. */
  readonly data: string;
  readonly signal: AbortSignal;
}

export function stageOn({ url, key, admin_key }: DevKeys, parts: Pick<Stage, 'callbacks' | 'data' | 'signal'>): Stage {
  const retry = { giveUpAfterMs: 5000 };
  return {
    url,
    key,
    client: createClient({ url, key, retry }),
    admin: createClient({ url, key: admin_key, retry }),
    ...parts,
  };
}

/** A received callback with a verified signature. */
export interface Arrived {
  readonly answer: MailboxResponse;
  readonly callback: Callback;
}

/** The callbacks received during a demonstration. */
export class Callbacks implements AsyncDisposable {
  readonly #receiver: Receiver;
  readonly #arrived: Arrived[];
  readonly #waiting: Set<() => void>;

  private constructor(receiver: Receiver, arrived: Arrived[], waiting: Set<() => void>) {
    this.#receiver = receiver;
    this.#arrived = arrived;
    this.#waiting = waiting;
  }

  /** Listens on a port. `url` is called only for the first callback, because the server may start later. */
  static async listen(port: number, certificate: ListenCertificate, url: () => string): Promise<Callbacks> {
    const [arrived, waiting] = [[] as Arrived[], new Set<() => void>()];
    const receiver = await Receiver.listen(port, certificate, {
      keys: async () => ({ publicKey: (await createClient({ url: url() }).mailbox.about()).callbacks.publicKey }),
      onAnswer: (answer, callback) => {
        arrived.push({ answer, callback });
        for (const wake of waiting) wake();
      },
      note: () => {},
    });
    return new Callbacks(receiver, arrived, waiting);
  }

  get url(): string {
    return this.#receiver.url;
  }

  get port(): number {
    return this.#receiver.port;
  }

  /** Resolves with the callback that answers this message. */
  async answering(messageId: string, signal: AbortSignal): Promise<Arrived> {
    for (;;) {
      const found = this.#arrived.find(({ answer }) => answer.replyTo === messageId);
      if (found !== undefined) return found;
      await new Promise<void>((resolve, reject) => {
        const over = () => reject(new Error('the callback did not arrive in time'));
        const wake = () => {
          this.#waiting.delete(wake);
          signal.removeEventListener('abort', over);
          resolve();
        };
        if (signal.aborted) return over();
        signal.addEventListener('abort', over, { once: true });
        this.#waiting.add(wake);
      });
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#receiver[Symbol.asyncDispose]();
  }
}

/** An external agent, known to the server only by its public key. */
export interface Guest {
  readonly agentId: string;
  readonly privateKey: KeyObject;
}

/** Creates the guest's key pair, and gives the server the public key. */
export async function inviteGuest({ admin }: Stage): Promise<Guest> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const agentId = 'demo-guest';
  await admin.admin.agents.put({
    agent_id: agentId,
    name: 'Guest of the demo',
    permissions: { agents: ['echo', 'guide'] },
    public_key: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
  });
  return { agentId, privateKey };
}
