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
import { finalOf, type MailboxRequest, mailboxAnswerOf } from '../mailbox/answer.ts';
import { questionMessageIn } from '../mailbox/question.ts';
import { unsaidIn } from './changes.ts';

/** Every frame as it was sent: unchanged over E2A, with its projections; converted by any other endpoint. */
export async function wayOut(
  dialect: string | null,
  frames: readonly E2AResponse[],
  exchange: MailboxRequest,
): Promise<ExplainedFrame[]> {
  const convert = dialect === null ? undefined : TELLERS[dialect];
  return Promise.all(
    frames.map(async (frame): Promise<ExplainedFrame> => {
      const forms =
        convert === undefined
          ? projectionsOf(frame)
          : [[dialect ?? '', await convert(frame, exchange, frames)] as const];
      return {
        sequence: frame.sequence,
        response_kind: frame.response_kind,
        is_final: frame.is_final,
        frame: encodeResponse(frame),
        projections: forms.map(([name, message]) => projection(name, message, { frame, exchange })),
      };
    }),
  );
}

function projection(
  dialect: string,
  message: Json,
  { frame, exchange }: { frame: E2AResponse; exchange: MailboxRequest },
): Projection {
  if (message === null) {
    const why = `${dialect} tells answers whole, and has no word for a part of one`;
    return { dialect, message, dropped: [{ pointer: '/body', why }], invented: [] };
  }
  const from = [encodeResponse(frame), encodeEnvelope(exchange.envelope)];
  return {
    dialect,
    message,
    dropped: unsaidIn({ body: frame.body }, [message], () => `${dialect} has no place for it`),
    invented: unsaidIn(message, from, () => `${dialect} adds it`),
  };
}

function projectionsOf({ projections }: E2AResponse): [string, Json][] {
  return Object.entries(projections).filter((entry): entry is [string, JsonObject] => isObject(entry[1]));
}

type Converter = (frame: E2AResponse, exchange: MailboxRequest, frames: readonly E2AResponse[]) => Promise<Json> | Json;

/** Endpoints that do not send frames unchanged. Signatures are made when a message is sent, and are not shown. */
const TELLERS: Readonly<Record<string, Converter>> = {
  'a2a-mailbox': async (frame, exchange, frames) => {
    const message = frame.is_final
      ? mailboxAnswerOf(exchange, await finalOf(each(frames)))
      : questionMessageIn(exchange, frame);
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
