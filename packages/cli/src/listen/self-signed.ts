import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/**
 * A self-signed certificate for this machine's own addresses, and its key, as PEM. Node cannot create certificates, and
 * not every machine has OpenSSL's command; this is the necessary part of X.509 (RFC 5280).
 */
export function selfSigned({ now, days }: { now: Date; days: number }): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const name = sequence(set(sequence(COMMON_NAME, der(UTF8_STRING, Buffer.from('dragoman listen')))));
  const end = new Date(now.getTime() + days * ONE_DAY);
  const begin = new Date(now.getTime() - 3600 * 1000);
  const toBeSigned = sequence(
    // The version: 2 stands for v3.
    der(0xa0, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, positive(randomBytes(16))),
    sequence(ECDSA_WITH_SHA256),
    name,
    sequence(time(begin), time(end)),
    name,
    publicKey.export({ format: 'der', type: 'spki' }),
    der(0xa3, sequence(extension(BASIC_CONSTRAINTS, sequence(der(BOOLEAN, TRUE)), true), extension(ALT_NAME, NAMES))),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const whole = sequence(toBeSigned, sequence(ECDSA_WITH_SHA256), der(BIT_STRING, Buffer.from([0]), signature));
  const base64 = whole.toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd();
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

/** Tag, length, content (X.690 §8.1). */
function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const bytes = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}

function sequence(...contents: readonly Uint8Array[]): Buffer {
  return der(0x30, ...contents);
}

function set(...contents: readonly Uint8Array[]): Buffer {
  return der(0x31, ...contents);
}

function extension(id: Buffer, value: Buffer, critical = false): Buffer {
  return sequence(id, ...(critical ? [der(BOOLEAN, TRUE)] : []), der(OCTET_STRING, value));
}

/** A GeneralizedTime, which also covers years after 2049. */
function time(at: Date): Buffer {
  return der(0x18, Buffer.from(`${at.toISOString().replaceAll(/[-:T]|\.\d+/g, '')}`));
}

function positive(bytes: Buffer): Buffer {
  const [first = 0, ...rest] = bytes;
  return Buffer.from([(first & 0x7f) | 0x40, ...rest]);
}

/** In milliseconds. */
export const ONE_DAY = 24 * 3600 * 1000;

const BOOLEAN = 0x01;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const UTF8_STRING = 0x0c;
const TRUE = Buffer.from([0xff]);

// Object identifiers in DER.
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const BASIC_CONSTRAINTS = Buffer.from('0603551d13', 'hex');
const ALT_NAME = Buffer.from('0603551d11', 'hex');
const ECDSA_WITH_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex');

/** `localhost`, 127.0.0.1 and ::1. */
const NAMES = sequence(
  der(0x82, Buffer.from('localhost')),
  der(0x87, Buffer.from([127, 0, 0, 1])),
  der(0x87, Buffer.from([...Array<number>(15).fill(0), 1])),
);
