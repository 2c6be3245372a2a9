import type { Failure, GivenAnswer, Json, QuestionAnswer } from '@dragoman/protocols';
import type { Principal } from '../call/principal.ts';
import type { Answerer, OpenQuestion, OpenQuestions } from '../questions/open-questions.ts';
import type { QuestionsElsewhere } from '../questions/questions-elsewhere.ts';
import { failureOf, Refused, refuse } from '../refusals/refused.ts';
import type { ClusterStore } from '../store/cluster.ts';
import type { RequestKey } from '../store/store.ts';
import type { Cluster } from './cluster.ts';

export interface RemoteQuestionsOptions {
  readonly store: Pick<ClusterStore, 'others'>;
  readonly questions: OpenQuestions;
  readonly cluster: Cluster;
  readonly principalNamed: (id: string) => Principal | undefined;
}

/** Gives this node access to open questions on other nodes, and them access to its own. */
export class RemoteQuestions implements QuestionsElsewhere {
  readonly #options: RemoteQuestionsOptions;

  constructor(options: RemoteQuestionsOptions) {
    const { questions, cluster } = options;
    this.#options = options;
    cluster.calls.serve(ANSWER, (params) => this.#answerHere(params as unknown as AnswerCall) as Promise<Json>);
    cluster.calls.serve(OF, async (key) => questions.of(key as unknown as RequestKey) as unknown as Json);
    cluster.calls.serve(OPEN_FOR, async (id) => {
      const principal = options.principalNamed(String(id));
      return (principal === undefined ? [] : questions.openFor(principal)) as unknown as Json;
    });
    questions.join(this);
  }

  async answer(
    question: AnswerCall['question'],
    given: GivenAnswer,
    { principal, channel, isToolCall = false }: Answerer,
  ): Promise<QuestionAnswer | undefined> {
    const call: AnswerCall = { question, given, by: principal.id, channel, isToolCall };
    const answers = await this.#askAll(ANSWER, call as unknown as Json);
    for (const answer of heard(answers)) {
      const { taken, refused } = answer as unknown as Taken;
      if (refused !== undefined) throw new Refused(refused);
      if (taken !== undefined) return taken;
    }
    // A node that is late may have the question, and may still take the answer.
    if (answers.includes(undefined)) refuse('busy', { retry_after: 1 }, 'A node did not answer in time. Try again.');
    return undefined;
  }

  async of({ owner, requestId }: RequestKey): Promise<readonly OpenQuestion[]> {
    return (await this.#ask(OF, { owner, requestId })).flat() as unknown as OpenQuestion[];
  }

  async openFor({ id }: Principal): Promise<readonly OpenQuestion[]> {
    return (await this.#ask(OPEN_FOR, id)).flat() as unknown as OpenQuestion[];
  }

  /** The answers of the other nodes that have one. */
  async #ask(method: string, params: Json): Promise<Json[]> {
    return heard(await this.#askAll(method, params));
  }

  /** Of every other node; `undefined` for one that did not answer in time. */
  async #askAll(method: string, params: Json): Promise<(Json | undefined)[]> {
    const { store, cluster } = this.#options;
    return Promise.all((await store.others()).map((node) => cluster.calls.ask(node, method, params)));
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

interface Taken {
  readonly taken?: QuestionAnswer;
  readonly refused?: Failure;
}

const ANSWER = 'questions.answer';
const OF = 'questions.of';
const OPEN_FOR = 'questions.openFor';
