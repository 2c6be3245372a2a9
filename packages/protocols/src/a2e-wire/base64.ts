/** The bytes as standard base64 with padding (RFC 4648 §4). */
export function toBase64(bytes: Uint8Array): string {
  let encoded = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const first = bytes[at] ?? 0;
    const second = bytes[at + 1];
    const third = bytes[at + 2];
    encoded += ALPHABET.charAt(first >> 2);
    encoded += ALPHABET.charAt(((first & 0b11) << 4) | ((second ?? 0) >> 4));
    encoded += second === undefined ? '=' : ALPHABET.charAt(((second & 0b1111) << 2) | ((third ?? 0) >> 6));
    encoded += third === undefined ? '=' : ALPHABET.charAt(third & 0b111111);
  }
  return encoded;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
