import { type E2AResponse, type Json, questionIn } from '@dragoman/protocols';
import { mailboxDialect } from '@dragoman/protocols/a2a-mailbox';
import { a2aMessagesDialect, questionMessage } from '@dragoman/protocols/a2a-messages';
import { AcpUpdates } from '@dragoman/protocols/acp';
import { eventTo03, foldOptionsOf, TaskFold } from '@dragoman/protocols/lf-a2a';
import { ChatAnswer, ResponseAnswer } from '@dragoman/protocols/openai';
import { collectAnswer } from '../a2a-messages/collect-answer.ts';
import { foldOf } from '../endpoints/mcp/request-fold.ts';
import { factsOf } from '../endpoints/openai/openai-endpoint.ts';
import { finalOf, type MailboxRequest, mailboxAnswerOf } from '../mailbox/answer.ts';
import { questionMessageIn } from '../mailbox/question.ts';

/** The messages of an endpoint for a frame; `null` if there are none. Called with the frames in order. */
export type Rendering = (frame: E2AResponse) => Json | Promise<Json>;

/**
 * How an endpoint converts frames, by the dialect in which it received the request. E2A is not listed, because it sends
 * frames unchanged. Signatures are made when a message is sent, and are not shown.
 */
export const RENDERINGS: Readonly<
  Record<string, (request: MailboxRequest, frames: readonly E2AResponse[]) => Rendering>
> = {
  'a2a-mailbox': (request, frames) => async (frame) => {
    const message = frame.is_final
      ? mailboxAnswerOf(request, await finalOf(each(frames)))
      : questionMessageIn(request, frame);
    return message === undefined ? null : mailboxDialect.encode(message);
  },
  'a2a-messages':
    ({ envelope }, frames) =>
    async (frame) => {
      const question = questionIn(frame);
      if (question !== undefined) return a2aMessagesDialect.encode(questionMessage(question, envelope));
      if (!frame.is_final) return null;
      const whole = await collectAnswer(each(frames));
      const [message] = 'fault' in whole ? [] : a2aMessagesDialect.fromResponse(whole, envelope);
      return message === undefined ? null : a2aMessagesDialect.encode(message);
    },
  'lf-a2a': ({ envelope, acceptedAt }) => {
    const options = foldOptionsOf(envelope, acceptedAt);
    const fold = new TaskFold(options);
    const is03 = envelope.provenance.details['a2a_version'] === '0.3';
    return (frame) => {
      const events = fold.apply(frame);
      return oneOrAll(is03 ? events.map((event) => eventTo03(event)) : events);
    };
  },
  acp: ({ requestId }) => {
    const converter = new AcpUpdates({ requestId });
    return (frame) => {
      const { updates, end } = converter.convert(frame);
      return oneOrAll(end === undefined ? updates : [...updates, end]);
    };
  },
  mcp: ({ requestId, envelope }) => {
    const fold = foldOf(requestId, envelope);
    return (frame) => {
      fold.apply(frame);
      return frame.is_final ? fold.result() : null;
    };
  },
  openai: ({ requestId, envelope, acceptedAt }) => {
    const facts = factsOf(requestId, envelope, acceptedAt);
    if (envelope.provenance.details['api'] === 'responses') {
      const answer = new ResponseAnswer(facts);
      return (frame) => oneOrAll([...(frame.sequence === 0 ? answer.first() : []), ...answer.events(frame)]);
    }
    const answer = new ChatAnswer(facts);
    return (frame) => oneOrAll([...(frame.sequence === 0 ? [answer.first()] : []), ...answer.chunks(frame)]);
  },
};

function oneOrAll(messages: readonly unknown[]): Json {
  const [first = null, ...rest] = messages as readonly Json[];
  return rest.length === 0 ? first : [first, ...rest];
}

async function* each(frames: readonly E2AResponse[]): AsyncGenerator<E2AResponse> {
  yield* frames;
}
