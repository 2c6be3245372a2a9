import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate and its key, as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority of a test's own, which is trusted only where its file is configured. */
export class TestAuthority implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'dragoman-ca-'));
  #issued = 0;

  constructor(name = 'test authority') {
    const subject = ['-subj', `/CN=${name}`, '-addext', 'basicConstraints=critical,CA:TRUE'];
    this.#openssl('req', '-x509', ...NEW_KEY, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', ...subject);
  }

  /** The file to trust. */
  get path(): string {
    return join(this.#folder, 'ca.pem');
  }

  /** What is in it. */
  get certificate(): string {
    return readFileSync(this.path, 'utf8');
  }

  /** A certificate for these names or addresses, such as `IP:127.0.0.1`. */
  issue(names: readonly string[]): Certificate {
    this.#issued += 1;
    const file = (end: string) => `${this.#issued}.${end}`;
    const [key, request, cert, extensions] = [file('key'), file('csr'), file('pem'), file('ext')];
    writeFileSync(join(this.#folder, extensions), `subjectAltName=${names.join(',')}\n`);
    this.#openssl('req', ...NEW_KEY, '-keyout', key, '-out', request, '-subj', '/CN=receiver');
    const ca = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'];
    this.#openssl('x509', '-req', '-in', request, ...ca, '-out', cert, '-days', '2', '-extfile', extensions);
    const read = (name: string) => readFileSync(join(this.#folder, name), 'utf8');
    return { cert: read(cert), key: read(key) };
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #openssl(...args: readonly string[]): void {
    execFileSync('openssl', args, { cwd: this.#folder, stdio: ['ignore', 'ignore', 'pipe'] });
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
