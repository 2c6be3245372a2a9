import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ONE_DAY, selfSigned } from './self-signed.ts';

/** A certificate, its key, and the file that callers have to trust. */
export interface ListenCertificate {
  readonly cert: string;
  readonly key: string;
  readonly path: string;
}

/** The certificate of the local receiver. It is made when it is first needed, and again before it expires. */
export function listenCertificate(data: string, now: Date): ListenCertificate {
  const folder = join(data, 'listen');
  const [path, keyPath] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  if (!isGood(path, keyPath, now)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const made = selfSigned({ now, days: 365 });
    writeFileSync(keyPath, made.key, { mode: 0o600 });
    writeFileSync(path, made.cert);
  }
  return { cert: readFileSync(path, 'utf8'), key: readFileSync(keyPath, 'utf8'), path };
}

/** Whether the files have a valid certificate with its key. If not, they are created again. */
function isGood(path: string, keyPath: string, now: Date): boolean {
  try {
    const certificate = new X509Certificate(readFileSync(path));
    const isOfKey = certificate.checkPrivateKey(createPrivateKey(readFileSync(keyPath)));
    return isOfKey && Date.parse(certificate.validTo) - now.getTime() > 7 * ONE_DAY;
  } catch {
    return false;
  }
}

/** The default port of `listen`, to which `dev` allows callbacks. */
export const LISTEN_PORT = 7430;
