import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { problem } from '../http/problem.ts';
import type { Answer } from '../http/route.ts';
import { headerFields } from './answer.ts';

/** The answer to a malformed request, after which the connection cannot be trusted: a fixed text, then it is closed. */
export function lastAnswer(code: keyof typeof LAST_WORDS): Answer {
  const { status, title } = LAST_WORDS[code];
  return closing(problem({ status, code, title }));
}

/** Writes an answer to a socket that has no response object (any more), and ends it. */
export function endWith(socket: Duplex, answer: Answer, retryAfter?: number): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(rawAnswer(answer, retryAfter), () => socket.destroy());
}

/** An answer as bytes on the wire; the connection ends after it. */
export function rawAnswer(given: Answer, retryAfter?: number): string {
  const answer = closing(given);
  const text = answer.json === undefined ? (answer.text ?? '') : JSON.stringify(answer.json);
  const fields = headerFields(answer, { personal: false, fields: [], retryAfter });
  fields.push('Content-Length', String(Buffer.byteLength(text)));
  let head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\n`;
  for (let at = 0; at < fields.length; at += 2) head += `${fields[at]}: ${fields[at + 1]}\r\n`;
  return `${head}\r\n${text}`;
}

function closing(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, Connection: 'close' } };
}

const LAST_WORDS = {
  bad_request: { status: 400, title: 'This is not a valid HTTP/1.1 request.' },
  request_timeout: { status: 408, title: 'The request did not arrive in time.' },
  too_large: { status: 413, title: 'The request exceeds the limit of this endpoint.' },
  expectation_failed: { status: 417, title: 'The only supported Expect header is 100-continue.' },
  headers_too_large: { status: 431, title: 'The headers of the request exceed the limit of this endpoint.' },
} as const;
