import { accept, type Json, type Outcome, reject } from '@dragoman/protocols';
import { type A2AMessage, a2aMessagesDialect, parseMessage } from '@dragoman/protocols/a2a-messages';
import { type JsonReader, type JsonReadOptions, parseChecked } from '../worker-threads/json-reader.ts';
import type { SignedBytes } from '../worker-threads/json-thread.ts';

/** A received message; its payload may not be parsed yet. */
export interface MessageRead {
  /** The ids that an answer can name, even if the message is invalid. */
  readonly about: Json;
  /** The message. A long message lacks its payload here; `whole` adds it after the sender is proven. */
  readonly head: Outcome<A2AMessage>;
  /** The signed bytes of a long message. */
  readonly signed?: SignedBytes;
  whole(): A2AMessage | Promise<A2AMessage>;
}

/** Reads an A2A message, a long one in a worker thread. Fails only for a text that is not JSON. */
export function readMessage(
  source: Uint8Array | string,
  { reader, now, ...options }: JsonReadOptions & { readonly reader: JsonReader; readonly now: Date },
): Outcome<MessageRead> | Promise<Outcome<MessageRead>> {
  if (reader.isLong(source)) return readLong(source, { reader, now, ...options });
  const json = parseMessage(source, options.limits);
  if (!json.ok) return json;
  const head = a2aMessagesDialect.decode(json.value, now);
  return accept({ about: json.value, head, whole: () => messageIn(head) });
}

async function readLong(
  source: Uint8Array | string,
  { reader, now, ...options }: JsonReadOptions & { readonly reader: JsonReader; readonly now: Date },
): Promise<Outcome<MessageRead>> {
  const checked = await reader.checkMessage(source, now, options);
  if ('issues' in checked) return reject(...checked.issues);
  if ('invalid' in checked) {
    const head = reject<A2AMessage>(...checked.invalid);
    return accept({ about: checked.about, head, whole: () => messageIn(head) });
  }
  const { head, signed } = checked;
  const whole = async () => messageIn(a2aMessagesDialect.decode(await parseChecked(source), now));
  return accept({ about: head as unknown as Json, head: accept(head), signed, whole });
}

function messageIn(decoded: Outcome<A2AMessage>): A2AMessage {
  if (!decoded.ok) throw new Error('only a message that was found to be one is read whole');
  return decoded.value;
}
