import { type E2AEnvelope, isObject } from '@dragoman/protocols';

/** Whose files or terminals an agent may use beside its own: none, those of this machine, or those of the caller's client. */
export type ClientAccess = 'off' | 'local' | 'caller';

export interface ClientAccesses {
  readonly files: ClientAccess;
  readonly terminals: ClientAccess;
}

/** The client capabilities that an agent is offered, in the terms of ACP. */
export interface ClientOffer {
  readonly readTextFile: boolean;
  readonly writeTextFile: boolean;
  readonly terminal: boolean;
}

/** The offer for one request. Of the caller's client, only the capabilities that it declared. */
export function clientOffer({ files, terminals }: ClientAccesses, envelope: E2AEnvelope): ClientOffer {
  const { client_capabilities: given } = envelope.channel_context;
  const { fs: given_fs, terminal } = isObject(given) ? given : ({} as Record<string, unknown>);
  const fs = isObject(given_fs) ? given_fs : {};
  const offered = (access: ClientAccess, has: unknown) => access === 'local' || (access === 'caller' && has === true);
  return {
    readTextFile: offered(files, fs['read_text_file']),
    writeTextFile: offered(files, fs['write_text_file']),
    terminal: offered(terminals, terminal),
  };
}
