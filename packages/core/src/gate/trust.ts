import { readFileSync } from 'node:fs';
import tls, { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';

/**
 * The TLS settings of outbound connections: TLS 1.2 or newer, and certificates of Node's roots, of the file that
 * NODE_EXTRA_CA_CERTS names, and of the operator are trusted.
 */
export function trustContext(own: readonly string[]): SecureContext {
  return createSecureContext({ minVersion: 'TLSv1.2', ...(own.length > 0 && { ca: [...usual(), ...own] }) });
}

/** The certificates that Node trusts by default. The option `ca` replaces them, so they must be part of it. */
function usual(): readonly string[] {
  if ('getCACertificates' in tls && typeof tls.getCACertificates === 'function')
    return tls.getCACertificates('default');
  return [...rootCertificates, ...extra(process.env['NODE_EXTRA_CA_CERTS'])];
}

/**
 * Reads the file again, because Node 20 does not report what it read. Node itself warns about a file that it cannot
 * read.
 */
function extra(path: string | undefined): readonly string[] {
  if (path === undefined || path === '') return [];
  try {
    return [readFileSync(path, 'utf8')];
  } catch {
    return [];
  }
}
