import type { Answer, Turn } from '@dragoman/client';
import { isObject, type Json, questionIn, textOfResult } from '@dragoman/protocols';
import { useEffect, useRef, useState } from 'preact/hooks';
import { askable } from '../askable.ts';
import { attachmentsOf } from '../attachments.ts';
import { useFrames } from '../frame-stream.ts';
import { useLive } from '../live.ts';
import { AnswerView, foldFrames } from '../parts/answer-view.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { Empty, Page } from '../parts/page.tsx';
import { Problem } from '../parts/problem.tsx';
import { QuestionCard } from '../parts/question.tsx';
import { SameThrough } from '../parts/same-through.tsx';
import { NeedsKey } from '../parts/sign-in.tsx';
import { State } from '../parts/state.tsx';
import { Text } from '../parts/text.tsx';
import { When } from '../parts/when.tsx';
import { navigate, pageUrl, route } from '../router.ts';
import { asAgent } from '../session.ts';

/** Talk to an agent. A conversation has an address of its own and can be left and taken up again. */
export default function ChatPage() {
  const client = asAgent.value;
  if (client === undefined) {
    return (
      <Page title="Chat">
        <NeedsKey kind="agent" />
      </Page>
    );
  }
  return <Chat />;
}

function Chat() {
  const client = asAgent.value;
  const [session] = route.value.rest;
  const wanted = route.value.query.get('agent') ?? undefined;
  const agents = useLive(async (signal) => client && askable(await client.agents({ signal })), [client]);
  const sessions = useLive(async () => client?.sessions.list(), [client, session], 15_000);
  const agent =
    wanted ?? sessions.data?.sessions.find(({ session_id: id }) => id === session)?.agent_id ?? agents.data?.[0]?.id;
  return (
    <Page
      title="Chat"
      actions={
        <>
          <label class="check">
            with
            <select
              value={agent ?? ''}
              onChange={(event) =>
                navigate(`${pageUrl('chat')}?agent=${encodeURIComponent(event.currentTarget.value)}`)
              }
            >
              {agents.data?.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <a
            class="button"
            href={`${pageUrl('chat')}${agent === undefined ? '' : `?agent=${encodeURIComponent(agent)}`}`}
          >
            New conversation
          </a>
        </>
      }
    >
      <Problem error={agents.error ?? sessions.error} />
      {agents.data?.length === 0 ? (
        <Empty title="You may talk to no agent">
          <p>
            An operator grants that with permissions.agents, on the Agents page or with <code>npx dragoman agents</code>
            .
          </p>
        </Empty>
      ) : (
        <div class="split">
          <nav class="panel" aria-label="Conversations">
            <h2>Conversations</h2>
            {sessions.data?.sessions.length === 0 && <p class="dim">None yet. Write something.</p>}
            <ul class="list">
              {sessions.data?.sessions.map(({ session_id: id, agent_id: who, title, updated_at: updated }) => (
                <li key={`${who} ${id}`}>
                  <a
                    href={`${pageUrl('chat', id)}?agent=${encodeURIComponent(who)}`}
                    aria-current={id === session && who === agent ? 'page' : undefined}
                  >
                    <Text value={title ?? id} />
                    <small>
                      <Text value={who} />, <When at={updated} />
                    </small>
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          {agent !== undefined && <Talk key={`${agent} ${session ?? 'new'}`} agent={agent} session={session} />}
        </div>
      )}
    </Page>
  );
}

/** Conversations started here keep their view when the URL gets their id. */
const started = new Map<string, readonly Sent[]>();

interface Sent {
  readonly text: string;
  /** Of attached files. */
  readonly names: readonly string[];
  readonly answer: Answer;
}

function Talk({ agent, session }: { readonly agent: string; readonly session: string | undefined }) {
  const client = asAgent.value;
  const [sent, setSent] = useState<readonly Sent[]>(started.get(`${agent} ${session}`) ?? []);
  const [text, setText] = useState('');
  const [files, setFiles] = useState<readonly File[]>([]);
  const [trouble, setTrouble] = useState<unknown>();
  const isNew = useRef(session !== undefined && sent.length > 0);
  const history = useLive(
    async () => (session === undefined || isNew.current ? undefined : client?.history(session, { agent })),
    [client, session, agent],
  );
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: 'end' }), [history.data, sent.length]);
  const send = async () => {
    const message = text.trim();
    if (message === '' || client === undefined) return;
    setTrouble(undefined);
    const attached = await attachmentsOf(files).catch(setTrouble);
    if (attached === undefined) return;
    const id = session ?? (await newSession(message));
    if (id === undefined) return;
    const params = { content: message, ...(attached.length > 0 && { files: attached as unknown as Json }) };
    const names = attached.map(({ name }) => name ?? '');
    const all = [...sent, { text: message, names, answer: client.send({ params }, { agent, session: id }) }];
    setText('');
    setFiles([]);
    started.set(`${agent} ${id}`, all);
    if (session === undefined) navigate(`${pageUrl('chat', id)}?agent=${encodeURIComponent(agent)}`, { replace: true });
    else setSent(all);
  };
  /** The title is the start of its first message. */
  const newSession = async (message: string): Promise<string | undefined> => {
    try {
      const title = message.length > 60 ? `${message.slice(0, 59)}…` : message;
      return (await client?.sessions.create({ agent, session: crypto.randomUUID(), title }))?.session_id;
    } catch (error) {
      setTrouble(error);
      return undefined;
    }
  };
  const here = new Set(sent.map(({ answer }) => answer.requestId));
  const earlier = [...(history.data?.messages ?? [])].reverse().filter(({ request_id: id }) => !here.has(id));
  return (
    <div class="chat">
      <div class="talk" tabIndex={0} aria-label="Conversation" role="log">
        <Problem error={trouble ?? history.error} />
        {session === undefined && sent.length === 0 && (
          <Empty title="Send a message">
            <p>The answer arrives word by word. You can leave: it continues, and the conversation stays on the left.</p>
          </Empty>
        )}
        {earlier.map((turn, at) => (
          <EarlierTurn key={turn.request_id} turn={turn} isWhole={at >= earlier.length - WHOLE_TURNS} />
        ))}
        {sent.map(({ text: message, names, answer }) => (
          <LiveTurn
            key={answer.requestId}
            message={message}
            names={names}
            requestId={answer.requestId}
            open={() => answer}
            agent={agent}
          />
        ))}
        <div ref={end} />
      </div>
      <form
        class="composer"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <textarea
          aria-label={`Message to ${agent}`}
          rows={2}
          value={text}
          placeholder="Enter sends, Shift+Enter makes a new line"
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            void send();
          }}
        />
        <label class="button attach">
          Attach{files.length > 0 && ` (${files.length})`}
          <input
            key={files.length === 0 ? 'none' : 'some'}
            type="file"
            multiple
            onChange={(event) => setFiles([...(event.currentTarget.files ?? [])])}
          />
        </label>
        <button type="submit" class="primary" disabled={text.trim() === ''}>
          Send
        </button>
      </form>
    </div>
  );
}

/**
 * An earlier turn. The latest are read again frame by frame, so that they look the same and running ones continue; older ones
 * show only their result.
 */
function EarlierTurn({ turn, isWhole }: { readonly turn: Turn; readonly isWhole: boolean }) {
  const { request_id: id, params, status, answer } = turn;
  const message = ['content', 'text', 'query'].map((name) => params[name]).find((one) => typeof one === 'string');
  const mine = typeof message === 'string' ? message : JSON.stringify(params);
  if (isWhole || status === 'in_progress')
    return <LiveTurn message={mine} names={namesIn(params)} requestId={id} open={() => asAgent.value?.resume(id)} />;
  const text = textOf(answer);
  return (
    <>
      <Mine message={mine} names={namesIn(params)} />
      <div class="turn">
        <Markdown text={text} />
        <footer>
          {status === 'failed' && <State state="failed" />}
          <a href={pageUrl('requests', id)}>frames</a>
          <When at={turn.timestamp} />
        </footer>
      </div>
    </>
  );
}

interface LiveTurnParts {
  readonly message: string;
  readonly names: readonly string[];
  readonly requestId: string;
  readonly agent?: string;
  readonly open: () => Answer | undefined;
}

function LiveTurn({ message, names, requestId, open, agent }: LiveTurnParts) {
  const answer = useRef(open());
  const stream = useFrames(() => answer.current as Answer, [requestId]);
  const [trouble, setTrouble] = useState<unknown>();
  // An agent with an open question sends nothing more until it is answered.
  const last = stream.frames.at(-1);
  const question = last && questionIn(last);
  return (
    <>
      <Mine message={message} names={names} />
      <div class="turn" aria-busy={!stream.isOver}>
        <AnswerView answer={foldFrames(stream.frames)} />
        {question !== undefined && !stream.isOver && (
          <QuestionCard
            question={question}
            answer={async (given) => asAgent.value?.questions.answer({ request_id: requestId, ...question }, given)}
          />
        )}
        <Problem error={stream.error} />
        <Problem error={trouble} />
        <footer>
          {!stream.isOver && (
            <>
              <State state="running" />
              <button type="button" class="small" onClick={() => answer.current?.cancel().catch(setTrouble)}>
                Stop
              </button>
            </>
          )}
          {stream.reconnects > 0 && <span>resumed {stream.reconnects} times</span>}
          <a href={pageUrl('requests', requestId)}>{stream.frames.length} frames</a>
          {agent !== undefined && <SameThrough agent={agent} text={message} />}
        </footer>
      </div>
    </>
  );
}

function Mine({ message, names }: { readonly message: string; readonly names: readonly string[] }) {
  return (
    <div class="turn mine">
      <Text value={message} />
      {names.length > 0 && (
        <div class="dim">
          with <Text value={names.join(', ')} />
        </div>
      )}
    </div>
  );
}

/** The names of the files attached to a message. */
function namesIn({ files }: Turn['params']): readonly string[] {
  if (!Array.isArray(files)) return [];
  return files.map((file) => (isObject(file) && typeof file['name'] === 'string' ? file['name'] : 'a file'));
}

function textOf(answer: Turn['answer']): string {
  if (typeof answer === 'string') return answer;
  if (isObject(answer) && typeof answer['message'] === 'string' && answer['code'] !== undefined)
    return answer['message'];
  return textOfResult(answer) ?? `\`\`\`json\n${JSON.stringify(answer, null, 2)}\n\`\`\``;
}

/** That a conversation shows in full when it is opened. */
const WHOLE_TURNS = 12;
