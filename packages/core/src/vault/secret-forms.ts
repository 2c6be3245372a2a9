/** The forms of several secrets in one coding, as a tree of bytes. */
export interface Forms {
  readonly root: FormNode;
  /** The representative of each byte in the tree, for bytes that a coding does not distinguish. */
  readonly canonical: Uint8Array;
  /** A coding that ignores blanks and line breaks. */
  readonly ignoresBlanks: boolean;
}

export interface FormNode {
  readonly next: Map<number, FormNode>;
  /** A whole secret ends here. */
  isEnd: boolean;
}

/** Secrets as they are, in hex, and in base64 or base64url wherever in the coded text they begin. */
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

/** The characters of a base64 text that the secret alone decides, when it begins at this offset of three bytes. */
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
