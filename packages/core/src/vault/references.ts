// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a reference is written like this
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { OutboundHeader } from '../gate/gate.ts';
import { SecretText } from '../gate/secret-text.ts';
import { headerFault } from '../refusals/header-fault.ts';
import { CredentialUse } from '../secrets/credential-use.ts';
import { MIN_SECRET_BYTES } from './decode-credential.ts';
import { SecretRedactor } from './secret-redactor.ts';
import type { Vault } from './vault.ts';

export interface ReferenceSources {
  /** Default: the environment of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Without it, `vault:` references are refused. */
  readonly vault?: Pick<Vault, 'find' | 'releaseToProgram'> | undefined;
}

/** Reads the variables of a program: once for each start of it. */
export type ReadVariables = () => Promise<Readonly<Record<string, string>>>;

/**
 * Resolves the references to secrets in texts of the configuration:
 *
 *   ${NAME}     anywhere in the text: the variable NAME of the server's own environment
 *   file:PATH   the content of a file, without the line break at its end
 *   vault:ID    a credential of the vault
 *
 * References in a resolved value are not resolved, so a variable may contain any text.
 */
export class References {
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #vault: ReferenceSources['vault'];

  constructor({ environment = process.env, vault }: ReferenceSources = {}) {
    this.#environment = environment;
    this.#vault = vault;
  }

  /** Resolves the headers at a place of the configuration, such as `agents.desk.headers`. Throws a `BadReference`. */
  headers(values: HeaderTexts, at: string): Record<string, OutboundHeader> {
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => {
        const folded = name.toLowerCase();
        if (typeof value !== 'string') return [folded, new CredentialUse(value.credential)];
        const read = this.#read(value, `${at}.${name}`);
        if ('credential' in read) return [folded, new CredentialUse(read.credential)];
        const fault = headerFault(name, read.text);
        if (fault !== undefined) throw new BadReference(`${at}.${name}`, `the header ${fault}`, 'correct the value');
        return [folded, read.secrets.length === 0 ? read.text : new SecretText(read.text, redactorOf(read.secrets))];
      }),
    );
  }

  /** Resolves a key at a place of the configuration to an `Authorization` header. Throws a `BadReference`. */
  bearer(key: string, at: string): OutboundHeader {
    const read = this.#read(key, at);
    if ('credential' in read) return new CredentialUse(read.credential);
    const value = `Bearer ${read.text}`;
    const fault = headerFault('Authorization', value);
    if (fault !== undefined) throw new BadReference(at, `the header ${fault}`, 'correct the value');
    // A key that the configuration contains itself is a secret, too.
    return new SecretText(value, redactorOf(read.secrets.length === 0 ? [read.text] : read.secrets));
  }

  /**
   * Resolves the variables of a program at a place of the configuration, such as `agents.coder.env`. Throws a
   * `BadReference` at once for a missing variable or file. A credential is looked up only when the program starts,
   * because the vault can be filled only while the server runs.
   */
  variables(values: Readonly<Record<string, string>>, at: string): ReadVariables {
    const entries = Object.entries(values);
    const place = (name: string) => `${at}.${name}`;
    for (const [name, value] of entries) this.#readVariable(value, place(name));
    return async () => {
      const filled: Record<string, string> = {};
      for (const [name, value] of entries) {
        const read = this.#readVariable(value, place(name));
        filled[name] = 'text' in read ? read.text : await this.#released(read.credential, place(name));
      }
      return filled;
    };
  }

  /** Refuses a null byte, because Node's error about it would show the whole value. */
  #readVariable(text: string, at: string): ReadText | { readonly credential: string } {
    const read = this.#read(text, at);
    if ('text' in read && read.text.includes('\0')) {
      throw new BadReference(at, 'the value has a null byte', 'remove it: a variable is text');
    }
    return read;
  }

  #read(text: string, at: string): ReadText | { readonly credential: string } {
    if (text.startsWith(VAULT)) return { credential: text.slice(VAULT.length) };
    if (text.startsWith(FILE)) {
      const content = contentOf(text, at);
      return { text: content, secrets: [content] };
    }
    const secrets: string[] = [];
    const filled = text.replaceAll(/\$\{([^}]*)(\}?)/g, (whole: string, name: string, end: string) => {
      if (end === '' || !VARIABLE.test(name)) {
        const fix = 'write ${NAME} with letters, digits and "_"';
        throw new BadReference(at, `${JSON.stringify(whole)} does not name an environment variable`, fix);
      }
      // `process.env` inherits: `constructor` is not a variable.
      const value = Object.hasOwn(this.#environment, name) ? this.#environment[name] : undefined;
      if (value === undefined || value === '') {
        const state = value === undefined ? 'not set' : 'empty';
        throw new BadReference(
          at,
          `the environment variable ${name} is ${state}`,
          `export ${name}=VALUE before the start`,
        );
      }
      secrets.push(value);
      return value;
    });
    return { text: filled, secrets };
  }

  async #released(id: string, at: string): Promise<string> {
    const name = JSON.stringify(id);
    const credential = this.#vault?.find(id);
    if (this.#vault === undefined || credential === undefined) {
      throw new BadReference(at, `the vault has no credential ${name}`, `dragoman vault set ${id} --place env`);
    }
    if (!credential.places.includes('env')) {
      const what = `the credential ${name} may not be given to a program: its places are ${credential.places.join(', ')}`;
      throw new BadReference(at, what, `set it again with --place env`);
    }
    return this.#vault.releaseToProgram(id, at);
  }
}

/** The files that these texts refer to. */
export function referencedFiles(values: HeaderTexts): string[] {
  return Object.values(values).flatMap((value) =>
    typeof value === 'string' && value.startsWith(FILE) ? pathIn(value) : [],
  );
}

/** Returns the texts with `change` applied to the paths of files. */
export function withReferencedFiles<Values extends HeaderTexts>(
  values: Values,
  change: (path: string) => string,
): Values {
  const changed = Object.entries(values).map(([name, value]) => {
    const isFile = typeof value === 'string' && value.startsWith(FILE);
    return [name, isFile ? `${FILE}${change(pathIn(value))}` : value];
  });
  return Object.fromEntries(changed) as Values;
}

/** A reference of the configuration that cannot be resolved. It names the key and never a value. */
export class BadReference extends Error {
  readonly code = 'bad_reference';
  readonly at: string;
  readonly fix: string;

  constructor(at: string, what: string, fix: string) {
    super(`${at}: ${what}`);
    this.name = 'BadReference';
    this.at = at;
    this.fix = fix;
  }
}

type HeaderTexts = Readonly<Record<string, string | { readonly credential: string }>>;

interface ReadText {
  readonly text: string;
  readonly secrets: readonly string[];
}

function redactorOf(secrets: readonly string[]): SecretRedactor | undefined {
  // A shorter secret occurs in too many texts by chance.
  const findable = secrets.filter((secret) => Buffer.byteLength(secret) >= MIN_SECRET_BYTES);
  return findable.length === 0 ? undefined : new SecretRedactor(findable);
}

/**
 * The path in `file:PATH` or in a file URL. A URL that names a host or cannot be decoded is taken as a path, under
 * which no file is found.
 */
function pathIn(text: string): string {
  const path = text.slice(FILE.length);
  if (!path.startsWith('//')) return path;
  try {
    return fileURLToPath(text);
  } catch {
    return path;
  }
}

function contentOf(text: string, at: string): string {
  const path = pathIn(text);
  const fix = 'correct the path: it is taken from the folder of the configuration file';
  try {
    if (statSync(path).size > MAX_FILE_BYTES) {
      throw new BadReference(at, `the file ${path} is larger than ${MAX_FILE_BYTES} bytes`, fix);
    }
    const content = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    if (content === '') throw new BadReference(at, `the file ${path} is empty`, 'write the secret into it');
    return content;
  } catch (error) {
    if (error instanceof BadReference) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new BadReference(
      at,
      code === 'ENOENT' ? `file not found: ${path}` : `the file ${path} cannot be read (${code})`,
      fix,
    );
  }
}

const FILE = 'file:';
const VAULT = 'vault:';
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_FILE_BYTES = 65_536;
