import { show } from '@dragoman/protocols';
import { type EncodeDecodeConfig, formatPath, OPERATIONS, type Path } from '@dragoman/protocols/a2e-workflow';
import { decodeHtml, encodeHtml } from '../html-text.ts';
import { textAt } from '../input.ts';
import type { Operation } from '../operation.ts';
import { dataError } from '../step-error.ts';

/** Encodes or decodes a text. Invalid encodings are a DataError. */
export const encodeDecode: Operation<EncodeDecodeConfig> = {
  description: OPERATIONS.EncodeDecode,
  compile({ inputPath, operation, encoding }, compiling) {
    const input = compiling.path(inputPath);
    const coder = Object.hasOwn(CODERS, encoding) ? CODERS[encoding] : undefined;
    if (coder === undefined) {
      compiling.problem(
        '/encoding',
        `encoding ${JSON.stringify(encoding)} is not one of ${Object.keys(CODERS).join(', ')}`,
      );
      return () => null;
    }
    if (operation === 'encode') {
      return (step) => {
        const text = textAt(step, input);
        step.account.reserve(text.length * coder.growth);
        return coder.encode(text);
      };
    }
    return (step) => {
      const text = textAt(step, input);
      return coder.decode(text) ?? refuseText(input, coder.name, text);
    };
  },
};

interface Coder {
  readonly name: string;
  /** Maximum bytes of one encoded character. */
  readonly growth: number;
  readonly encode: (text: string) => string;
  /** `undefined` when the text is not validly encoded. */
  readonly decode: (text: string) => string | undefined;
}

const CODERS: Readonly<Record<string, Coder>> = {
  base64: {
    name: 'base64',
    growth: 4,
    encode: (text) => Buffer.from(text, 'utf8').toString('base64'),
    decode: (text) => {
      if (!isBase64(text)) return undefined;
      return utf8(Buffer.from(text, 'base64'));
    },
  },
  url: {
    name: 'URL-encoded',
    growth: 9,
    encode: (text) => encodeURIComponent(text),
    decode: (text) => {
      try {
        return decodeURIComponent(text);
      } catch {
        return undefined;
      }
    },
  },
  html: { name: 'HTML', growth: 6, encode: encodeHtml, decode: decodeHtml },
};

function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function refuseText(path: Path, name: string, text: string): never {
  throw dataError(`${formatPath(path)} must be ${name} text; got ${show(text)}`, {
    suggestions: [
      `set encoding to the encoding of the text; if you want to encode the text, set operation to "encode"`,
    ],
  });
}

/** Both alphabets, with or without padding. A single remaining character is invalid. */
function isBase64(text: string): boolean {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const left = (text.length - padding) % 4;
  // A single character class: with a repeated group the engine would keep state for each repetition.
  return /^[\w+/-]*={0,2}$/.test(text) && left !== 1 && padding <= (4 - left) % 4;
}
