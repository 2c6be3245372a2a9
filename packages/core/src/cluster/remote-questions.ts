import type { Failure, GivenAnswer, Json, JsonObject, QuestionAnswer } from '@dragoman/protocols';
import type { Principal } from '../call/principal.ts';
import type { ClientCalls } from '../questions/client-calls.ts';
import type { Answerer, EndedQuestion, OpenQuestion, OpenQuestions } from '../questions/open-questions.ts';
import type { QuestionsElsewhere } from '../questions/questions-elsewhere.ts';
import { failureOf, Refused, refuse } from '../refusals/refused.ts';
import type { Cluster } from './cluster.ts';

export interface RemoteQuestionsOptions {
  readonly questions: OpenQuestions;
  readonly clientCalls: ClientCalls;
  readonly cluster: Cluster;
  readonly principalNamed: (id: string) => Principal | undefined;
}

/** Gives this node access to the questions, and the calls to clients, of runs on other nodes, and them access to its own. */
export class RemoteQuestions implements QuestionsElsewhere {
  readonly #options: RemoteQuestionsOptions;

  constructor(options: RemoteQuestionsOptions) {
    const { questions, clientCalls, cluster, principalNamed } = options;
    this.#options = options;
    cluster.calls.serve(ANSWER, (params) => this.#answerHere(params as unknown as AnswerCall) as Promise<Json>);
    cluster.calls.serve(OF_OWNER, async (owner) => questions.ofOwner(String(owner)) as unknown as Json);
    const listFor = (method: string, list: (principal: Principal) => readonly OpenQuestion[]) =>
      cluster.calls.serve(method, async (id) => {
        const principal = principalNamed(String(id));
        return (principal === undefined ? [] : list(principal)) as unknown as Json;
      });
    listFor(OPEN_FOR, (principal) => questions.openFor(principal));
    listFor(ENDED_FOR, (principal) => questions.endedFor(principal));
    cluster.calls.serve(ANSWER_CLIENT_CALL, async (params) => {
      const { id, owner, response } = params as unknown as ClientCallAnswer;
      return clientCalls.answerHere(id, owner, response);
    });
    questions.join(this);
    clientCalls.join({ answer: (id, owner, response) => this.#answerClientCall({ id, owner, response }) });
  }

  async answer(
    question: AnswerCall['question'],
    given: GivenAnswer,
    { principal, channel, isToolCall = false }: Answerer,
  ): Promise<QuestionAnswer | undefined> {
    const call: AnswerCall = { question, given, by: principal.id, channel, isToolCall };
    const answers = await this.#options.cluster.calls.askOthers(ANSWER, call as unknown as Json);
    for (const answer of heard(answers)) {
      const { taken, refused } = answer as unknown as Taken;
      if (refused !== undefined) throw new Refused(refused);
      if (taken !== undefined) return taken;
    }
    // A node that is late may have the question, and may still take the answer.
    if (answers.includes(undefined)) refuse('busy', { retry_after: 1 }, 'A node did not answer in time. Try again.');
    return undefined;
  }

  async ofOwner(owner: string): Promise<readonly OpenQuestion[]> {
    return (await this.#ask(OF_OWNER, owner)).flat() as unknown as OpenQuestion[];
  }

  async openFor({ id }: Principal): Promise<readonly OpenQuestion[]> {
    return (await this.#ask(OPEN_FOR, id)).flat() as unknown as OpenQuestion[];
  }

  async endedFor({ id }: Principal): Promise<readonly EndedQuestion[]> {
    return (await this.#ask(ENDED_FOR, id)).flat() as unknown as EndedQuestion[];
  }

  async #answerClientCall(answer: ClientCallAnswer): Promise<boolean> {
    return (await this.#ask(ANSWER_CLIENT_CALL, answer as unknown as Json)).includes(true);
  }

  /** The answers of the other nodes that have one. */
  async #ask(method: string, params: Json): Promise<Json[]> {
    return heard(await this.#options.cluster.calls.askOthers(method, params));
  }

  /** Null when the question is not open here. */
  async #answerHere({ question, given, by, channel, isToolCall }: AnswerCall): Promise<Taken | null> {
    const { questions, principalNamed } = this.#options;
    const principal = principalNamed(by);
    if (principal === undefined || !questions.has(question.questionId)) return null;
    try {
      return { taken: await questions.answer(question, given, { principal, channel, isToolCall }) };
    } catch (error) {
      const refused = failureOf(error);
      if (refused === undefined) throw error;
      return { refused };
    }
  }
}

function heard(answers: readonly (Json | undefined)[]): Json[] {
  return answers.flatMap((answer) => (answer === undefined || answer === null ? [] : [answer]));
}

interface AnswerCall {
  readonly question: { readonly questionId: string; readonly requestId?: string | undefined };
  readonly given: GivenAnswer;
  /** The id of the principal. */
  readonly by: string;
  readonly channel: string;
  readonly isToolCall: boolean;
}

interface ClientCallAnswer {
  readonly id: string;
  readonly owner: string;
  readonly response: JsonObject;
}

interface Taken {
  readonly taken?: QuestionAnswer;
  readonly refused?: Failure;
}

const ANSWER = 'questions.answer';
const OF_OWNER = 'questions.ofOwner';
const OPEN_FOR = 'questions.openFor';
const ENDED_FOR = 'questions.endedFor';
const ANSWER_CLIENT_CALL = 'clientCalls.answer';
