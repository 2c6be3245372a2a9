import type { JsonObject } from '../../packages/protocols/src/json.ts';
import type { WirePeer } from '../../packages/server/src/edges/wire-peer.contract.ts';

/** An agent on the wire: numbers its messages and finds the answers to them. */
export class WireCaller implements AsyncDisposable {
  readonly peer: WirePeer;
  #number = 0;

  constructor(peer: WirePeer) {
    this.peer = peer;
  }

  /** Sends a message, and gives back its id. */
  send(type: string, fields: JsonObject = {}): string {
    this.#number += 1;
    const id = `m${this.#number}`;
    this.peer.send({ a2e: '1.0', type, id, ts: 1, ...fields });
    return id;
  }

  call(tool: string, args: JsonObject = {}, more: JsonObject = {}): string {
    return this.send('tool/call/req', { tool_name: tool, arguments: args, ...more });
  }

  /** Everything up to what answers this message. */
  async upTo(id: string): Promise<JsonObject[]> {
    const received: JsonObject[] = [];
    for (;;) {
      const next = await this.peer.next();
      if (next === undefined) throw new Error(`it ended before ${id} was answered: ${JSON.stringify(received)}`);
      received.push(next);
      if (next['req_id'] === id && !String(next['type']).endsWith('event')) return received;
    }
  }

  /** Waits until a running call reports this. */
  async progress(id: string, message: string): Promise<void> {
    for (;;) {
      const next = await this.peer.next();
      if (next === undefined) throw new Error('it ended before');
      if (next['req_id'] !== id) continue;
      if (!String(next['type']).endsWith('event')) throw new Error(`it was answered before: ${JSON.stringify(next)}`);
      if ((next['data'] as JsonObject)['message'] === message) return;
    }
  }

  async answer(id: string): Promise<JsonObject> {
    return (await this.upTo(id)).at(-1) ?? {};
  }

  ask(type: string, fields: JsonObject = {}): Promise<JsonObject> {
    return this.answer(this.send(type, fields));
  }

  /** Calls a tool and waits for what it answers. */
  use(tool: string, args: JsonObject = {}, more: JsonObject = {}): Promise<JsonObject> {
    return this.answer(this.call(tool, args, more));
  }

  async greet(key: string, fields: JsonObject = {}): Promise<this> {
    const answer = await this.ask('handshake/req', { auth_token: key, ...fields });
    if (answer['ok'] !== true) throw new Error(`the handshake was rejected: ${JSON.stringify(answer)}`);
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.peer[Symbol.asyncDispose]();
  }
}
