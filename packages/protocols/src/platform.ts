// The only globals beyond ECMAScript that this package uses: web standards without side effects that every
// JavaScript runtime has. Declared here, so that neither the DOM's nor Node's types are included.

interface Utf8Decoder {
  decode(bytes: Uint8Array): string;
}

interface Utf8Encoder {
  encode(text: string): Uint8Array;
}

interface ParsedUrl {
  readonly protocol: string;
  readonly hostname: string;
  readonly username: string;
  readonly password: string;
  readonly hash: string;
  readonly href: string;
}

interface Host {
  readonly TextDecoder: new (label: 'utf-8', options: { fatal: true; ignoreBOM: true }) => Utf8Decoder;
  readonly TextEncoder: new () => Utf8Encoder;
  readonly URL: new (text: string) => ParsedUrl;
}

const host = globalThis as unknown as Host;

// `ignoreBOM: true` keeps a byte order mark in the text, so that the JSON check can refuse it by name.
const decoder = new host.TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new host.TextEncoder();

/** Strict UTF-8: `undefined` instead of replacement characters. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

export function parseUrl(text: string): ParsedUrl | undefined {
  try {
    return new host.URL(text);
  } catch {
    return undefined;
  }
}
