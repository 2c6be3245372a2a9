/** The forms of several secrets in one coding, as a tree of bytes. */
export interface Forms {
  readonly root: FormNode;
  /** Maps each byte to the one that stands for it in the tree, because the coding does not distinguish them. */
  readonly canonical: Uint8Array;
  /** Whether the coding ignores blanks and line breaks. */
  readonly ignoresBlanks: boolean;
}

export interface FormNode {
  readonly next: Map<number, FormNode>;
  /** Whether a secret ends here. */
  isEnd: boolean;
}

/** The forms of secrets: plain, in hex, and in base64 or base64url, at any offset within the encoded bytes. */
export function formsOf(secrets: readonly string[]): readonly Forms[] {
  const bytes = secrets.map((secret) => Buffer.from(secret));
  const hex = bytes.map((secret) => Buffer.from(secret.toString('hex')));
  const base64 = bytes.flatMap((secret) => [0, 1, 2].map((offset) => base64Core(secret, offset)));
  return [
    // A plus is a blank in a form-encoded text.
    forms(bytes, { same: [['+', ' ']], ignoresBlanks: false }),
    forms(hex, { same: [...'ABCDEF'].map((digit) => [digit, digit.toLowerCase()]), ignoresBlanks: true }),
    forms(base64, {
      same: [
        ['-', '+'],
        ['_', '/'],
      ],
      ignoresBlanks: true,
    }),
  ];
}

/** The base64 characters that depend on the secret alone, when it begins at this offset in a group of three bytes. */
function base64Core(secret: Buffer, offset: number): Buffer {
  const text = Buffer.concat([Buffer.alloc(offset), secret]).toString('base64');
  return Buffer.from(text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + secret.length) * 8) / 6)));
}

function forms(
  texts: readonly Buffer[],
  { same, ignoresBlanks }: { same: readonly (readonly string[])[]; ignoresBlanks: boolean },
): Forms {
  const canonical = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  for (const [other = '', kept = ''] of same) canonical[other.charCodeAt(0)] = kept.charCodeAt(0);
  const root = newNode();
  for (const text of texts.filter(({ length }) => length > 0)) {
    let node = root;
    for (const byte of text) {
      const key = canonical[byte] ?? byte;
      let next = node.next.get(key);
      if (next === undefined) {
        next = newNode();
        node.next.set(key, next);
      }
      node = next;
    }
    node.isEnd = true;
  }
  return { root, canonical, ignoresBlanks };
}

function newNode(): FormNode {
  return { next: new Map(), isEnd: false };
}
