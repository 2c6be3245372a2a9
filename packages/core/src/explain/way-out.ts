import {
  type E2AResponse,
  type ExplainedFrame,
  encodeEnvelope,
  encodeResponse,
  isObject,
  type Json,
  type JsonObject,
  type Projection,
  questionIn,
} from '@dragoman/protocols';
import { mailboxDialect } from '@dragoman/protocols/a2a-mailbox';
import { a2aMessagesDialect, questionMessage } from '@dragoman/protocols/a2a-messages';
import { collectAnswer } from '../a2a-messages/collect-answer.ts';
import { type AskedMessage, finalOf, mailboxAnswerOf } from '../mailbox/answer.ts';
import { questionMessageIn } from '../mailbox/question.ts';
import { unsaidIn } from './changes.ts';

/** Every frame as it went out: over E2A as it is, with its projections; by another door as that one tells it. */
export async function wayOut(
  dialect: string | null,
  frames: readonly E2AResponse[],
  asked: AskedMessage,
): Promise<ExplainedFrame[]> {
  const tell = dialect === null ? undefined : TELLERS[dialect];
  return Promise.all(
    frames.map(async (frame): Promise<ExplainedFrame> => {
      const told =
        tell === undefined ? projectionsOf(frame) : [[dialect ?? '', await tell(frame, asked, frames)] as const];
      return {
        sequence: frame.sequence,
        response_kind: frame.response_kind,
        is_final: frame.is_final,
        frame: encodeResponse(frame),
        projections: told.map(([name, message]) => projection(name, message, { frame, asked })),
      };
    }),
  );
}

function projection(
  dialect: string,
  message: Json,
  { frame, asked }: { frame: E2AResponse; asked: AskedMessage },
): Projection {
  if (message === null) {
    const why = `${dialect} tells answers whole, and has no word for a part of one`;
    return { dialect, message, dropped: [{ pointer: '/body', why }], invented: [] };
  }
  const from = [encodeResponse(frame), encodeEnvelope(asked.envelope)];
  return {
    dialect,
    message,
    dropped: unsaidIn({ body: frame.body }, [message], () => `${dialect} has no place for it`),
    invented: unsaidIn(message, from, () => `${dialect} says it of itself`),
  };
}

function projectionsOf({ projections }: E2AResponse): [string, Json][] {
  return Object.entries(projections).filter((entry): entry is [string, JsonObject] => isObject(entry[1]));
}

type Teller = (frame: E2AResponse, asked: AskedMessage, frames: readonly E2AResponse[]) => Promise<Json> | Json;

/** Doors that do not send frames as they are. Signatures are made when a message leaves, and are not shown. */
const TELLERS: Readonly<Record<string, Teller>> = {
  'a2a-mailbox': async (frame, asked, frames) => {
    const message = frame.is_final
      ? mailboxAnswerOf(asked, await finalOf(each(frames)))
      : questionMessageIn(asked, frame);
    return message === undefined ? null : mailboxDialect.encode(message);
  },
  'a2a-messages': async (frame, { envelope }, frames) => {
    const question = questionIn(frame);
    if (question !== undefined) return a2aMessagesDialect.encode(questionMessage(question, envelope));
    if (!frame.is_final) return null;
    const whole = await collectAnswer(each(frames));
    const [message] = 'fault' in whole ? [] : a2aMessagesDialect.fromResponse(whole, envelope);
    return message === undefined ? null : a2aMessagesDialect.encode(message);
  },
};

async function* each(frames: readonly E2AResponse[]): AsyncGenerator<E2AResponse> {
  yield* frames;
}
