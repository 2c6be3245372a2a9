import { failureOf } from '../refusals/refused.ts';

/** Why a host could not be reached or the connection failed, worded. */
export function connectFault(error: unknown): string {
  const failure = failureOf(error);
  if (failure !== undefined) return String(failure.details['reason'] ?? failure.message.replace(/\.$/, ''));
  const { code, message } = (typeof error === 'object' && error !== null ? error : {}) as {
    code?: unknown;
    message?: unknown;
  };
  const name = typeof code === 'string' ? code : '';
  const known = Object.hasOwn(WORDS, name) ? WORDS[name] : undefined;
  if (known !== undefined) return known;
  if (CERTIFICATE.test(name)) return `its TLS certificate is not trusted (${name})`;
  if (name === 'EPROTO' || name.startsWith('ERR_SSL')) return 'it does not speak TLS as we do';
  if (name.startsWith('HPE_') || (error instanceof Error && error.name === 'HTTPParserError'))
    return 'it does not speak HTTP';
  const status = typeof message === 'string' ? /^Unexpected server response: (\d{3})$/.exec(message)?.[1] : undefined;
  if (status !== undefined) return `it answered ${status} to a WebSocket handshake`;
  return name === '' ? 'the connection failed' : `the connection failed (${name})`;
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'it closed the connection unexpectedly',
  EPIPE: 'it closed the connection unexpectedly',
  ENOTFOUND: 'its host name cannot be resolved',
  EAI_AGAIN: 'its host name cannot be resolved at the moment',
  ETIMEDOUT: 'it did not answer in time',
  EHOSTUNREACH: 'its host cannot be reached',
  ENETUNREACH: 'its network cannot be reached',
  EADDRNOTAVAIL: 'its address cannot be reached',
  EPEER: 'the connection led to another address',
  HPE_HEADER_OVERFLOW: 'its headers are too long',
  UND_ERR_HEADERS_OVERFLOW: 'its headers are too long',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'its answer does not have the announced length',
  UND_ERR_SOCKET: 'it closed the connection unexpectedly',
};

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE/;
