import { type HostPort, hostPortOf, nameOfHostPort } from '../gate/host-port.ts';
import { credentialsIn } from '../gate/injection.ts';
import type { Redactor } from '../gate/redactor.ts';
import type { LongText } from '../text/long-text.ts';
import { redactedJson } from '../vault/redacted-json.ts';
import type { ApiRequest } from '../workflow/effects.ts';

/**
 * The secrets that one execution has used, by the hosts they were sent to. The gate removes them from answers, but a
 * workflow can still reproduce one by decoding or joining values, so events and results are searched again.
 */
export class UsedSecrets {
  readonly #redactorFor: (host: HostPort) => Redactor | undefined;
  readonly #hosts = new Map<string, HostPort>();

  constructor(redactorFor: (host: HostPort) => Redactor | undefined) {
    this.#redactorFor = redactorFor;
  }

  get isAny(): boolean {
    return this.#hosts.size > 0;
  }

  note({ url, query, headers, body }: ApiRequest): void {
    if (credentialsIn({ query, headers, body }).length === 0) return;
    const host = hostPortOf(new URL(url));
    this.#hosts.set(nameOfHostPort(host), host);
  }

  async redacted<Text extends string | LongText>(json: Text): Promise<Text | string> {
    let clean: Text | string = json;
    for (const host of this.#hosts.values()) {
      const redactor = this.#redactorFor(host);
      if (redactor !== undefined) clean = await redactedJson(clean, redactor);
    }
    return clean;
  }

  async redactedBytes(json: Uint8Array): Promise<Uint8Array> {
    if (!this.isAny) return json;
    const clean = await this.redacted({ parts: [json] });
    return typeof clean === 'string' ? Buffer.from(clean) : json;
  }
}
