import { readFileSync } from 'node:fs';
import tls, { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';

/** The certificates that TLS connections trust: Node's roots, the file NODE_EXTRA_CA_CERTS names, and the operator's own. Never older than TLS 1.2. */
export function trustContext(own: readonly string[]): SecureContext {
  return createSecureContext({ minVersion: 'TLSv1.2', ...(own.length > 0 && { ca: [...usual(), ...own] }) });
}

/** Naming any certificate replaces all that Node trusts by itself, so they have to be named too. */
function usual(): readonly string[] {
  if ('getCACertificates' in tls && typeof tls.getCACertificates === 'function')
    return tls.getCACertificates('default');
  return [...rootCertificates, ...extra(process.env['NODE_EXTRA_CA_CERTS'])];
}

/** Node 20 does not tell what it read from there. A file that cannot be read it leaves out with its own warning. */
function extra(path: string | undefined): readonly string[] {
  if (path === undefined || path === '') return [];
  try {
    return [readFileSync(path, 'utf8')];
  } catch {
    return [];
  }
}
