import { isObject, type Json, type JsonObject } from '../json.ts';
import { acpResultFor, questionFromAcpRequest } from './adapters/acp-question.ts';
import type { NewQuestion, QuestionAnswer, QuestionOption } from './question.ts';
import { decodeNewQuestion } from './read-question.ts';
import type { E2AResponse } from './response.ts';

/** A question that an E2A agent asks in its own frame, and how the agent receives the answer. */
export interface AgentQuestion {
  readonly question: NewQuestion;
  /** The message that gives the agent the answer. */
  reply(answer: QuestionAnswer): { readonly method: string; readonly params: JsonObject };
}

/**
 * The question in a frame of an agent: `acp.output_request` (a permission or a form), `plan.approval_required`, or a
 * chunk `chat.ask_user_question`. `undefined` for every other frame, such as a request for a file, and for a final
 * frame, after which the agent receives no answer.
 */
export function agentQuestionIn(frame: Partial<E2AResponse>): AgentQuestion | undefined {
  const { response_kind: kind, body, is_final: isFinal = false } = frame;
  if (body === undefined || isFinal) return undefined;
  if (kind === 'acp.output_request') return acpQuestion(body);
  if (kind === 'plan.approval_required') return planQuestion(body);
  const { event_type: event, delta } = body;
  if (kind !== 'e2a.chunk' || event !== ASK_USER_QUESTION) return undefined;
  return userQuestion(isObject(delta) ? delta : body);
}

function acpQuestion({ id, method, params }: JsonObject): AgentQuestion | undefined {
  const given = typeof method === 'string' && isObject(params) ? questionFromAcpRequest(method, params) : undefined;
  const question = valid(given);
  if (question === undefined || (typeof id !== 'string' && typeof id !== 'number')) return undefined;
  return {
    question,
    reply: (answer) => {
      const response = { jsonrpc: '2.0', id, result: acpResultFor(question, answer) };
      return { method: 'acp.tool_response', params: { jsonrpc_id: id, response } };
    },
  };
}

function planQuestion({ plan_content: plan, plan_slug: slug, question_id: id }: JsonObject): AgentQuestion | undefined {
  const text = typeof plan === 'string' ? plan : '';
  const name = typeof slug === 'string' && slug !== '' ? ` ${slug}` : '';
  const question = valid({
    kind: 'plan',
    title: `Approve the plan${name}?`.slice(0, 1000),
    subject: { type: 'plan', text },
  });
  return question && { question, reply: (answer) => userAnswer(answer, id ?? slug ?? null, question) };
}

/** One question, or several: `{question, options}`, or `{questions: [{question, options}, …]}`. */
function userQuestion(delta: JsonObject): AgentQuestion | undefined {
  const all = Array.isArray(delta['questions']) ? delta['questions'].filter(isObject) : [delta];
  const [only, ...others] = all;
  if (only === undefined) return undefined;
  const question = valid(others.length === 0 ? single(only) : form(all));
  const { question_id: id = null } = delta;
  return question && { question, reply: (answer) => userAnswer(answer, id, question) };
}

function single(given: JsonObject): NewQuestion {
  const options = optionsIn(given);
  const title = textOf(given);
  if (options.length > 0) return { kind: 'choice', title, options };
  return {
    kind: 'form',
    title,
    schema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
  };
}

function form(all: readonly JsonObject[]): NewQuestion {
  const fields = all.map((one, index): [string, JsonObject & { type: 'string' }] => {
    const choices = optionsIn(one).map(({ id }) => id);
    return [
      `answer_${index + 1}`,
      { type: 'string', title: textOf(one), ...(choices.length > 0 && { enum: choices }) },
    ];
  });
  const schema = {
    type: 'object',
    properties: Object.fromEntries(fields),
    required: fields.map(([name]) => name),
  } as const;
  return {
    kind: 'form',
    title: all.map(textOf).join(' ').slice(0, 1000),
    schema: { ...schema, required: [...schema.required] },
  };
}

function optionsIn({ options }: JsonObject): QuestionOption[] {
  const names = (Array.isArray(options) ? options : []).map((option) =>
    isObject(option)
      ? [option['id'] ?? option['label'] ?? option['name'], option['label'] ?? option['name']]
      : [option],
  );
  return names.flatMap(([id, name = id]) =>
    typeof id === 'string' && id !== ''
      ? [
          {
            id: id.slice(0, 256),
            name: (typeof name === 'string' && name !== '' ? name : id).slice(0, 500),
            kind: 'choice' as const,
          },
        ]
      : [],
  );
}

function textOf({ question, title, text, message }: JsonObject): string {
  const found = [question, title, text, message].find((one) => typeof one === 'string' && one !== '');
  return typeof found === 'string' ? found.slice(0, 1000) : 'The agent asks a question.';
}

/**
 * The message with an answer. `answers` has it again as a list: the chosen option, or the form's values in the order of
 * the questions.
 */
function userAnswer({ action, option_id, content }: QuestionAnswer, id: Json, { options = [] }: NewQuestion) {
  const chosen = options.find((option) => option.id === option_id)?.name;
  const answers: Json[] = content === undefined ? [chosen ?? action] : Object.values(content);
  const params: JsonObject = {
    ...(id !== null && { question_id: id }),
    action,
    ...(option_id !== undefined && { option_id }),
    ...(content !== undefined && { content }),
    answers,
  };
  return { method: 'chat.user_answer', params };
}

/** The question if it is valid; the frame of any other question is passed on as received. */
function valid(given: NewQuestion | undefined): NewQuestion | undefined {
  const { options, ...rest } = given ?? {};
  // A permission without options gets the default ones.
  const question = options === undefined || options.length === 0 ? rest : given;
  const decoded = decodeNewQuestion(question as unknown as Json);
  return decoded.ok ? decoded.value : undefined;
}

const ASK_USER_QUESTION = 'chat.ask_user_question';
