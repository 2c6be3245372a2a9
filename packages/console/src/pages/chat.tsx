import type { Answer, Client, Turn } from '@dragoman/client';
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

/** A chat with an agent. A conversation has its own URL, and can be left and continued later. */
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
  const { query } = route.value;
  const wanted = query.get('agent') ?? undefined;
  const [pages, setPages] = useState(1);
  const agents = useLive(async (signal) => client && askable(await client.agents({ signal })), [client]);
  const sessions = useLive(async () => client && latestSessions(client, pages), [client], 15_000);
  useEffect(sessions.reload, [session, pages]);
  const agent =
    wanted ?? sessions.data?.list.find(({ session_id: id }) => id === session)?.agent_id ?? agents.data?.[0]?.id;
  const beside = query.getAll('beside').flatMap((one) => readPlace(one) ?? []);
  const nameOf = (id: string) => agents.data?.find((one) => one.id === id)?.name ?? id;
  const others = agents.data?.filter(({ id }) => id !== agent && !beside.some((one) => one.agent === id)) ?? [];
  return (
    <Page
      title="Chat"
      actions={
        <>
          <label class="check">
            with
            <select
              value={agent ?? ''}
              onChange={(event) => navigate(chatUrl({ agent: event.currentTarget.value }, beside))}
            >
              {agents.data?.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          {agent !== undefined && (
            <a class="button" href={chatUrl({ agent })}>
              New conversation
            </a>
          )}
          {agent !== undefined && others.length > 0 && beside.length < MOST_BESIDE && (
            <label class="check">
              <span class="wide">and at the same time with</span>
              <select
                aria-label="And at the same time with"
                value=""
                onChange={(event) =>
                  navigate(chatUrl({ agent, session }, [...beside, { agent: event.currentTarget.value }]))
                }
              >
                <option value="">nobody else</option>
                {others.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          )}
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
            {sessions.data?.list.length === 0 && <p class="dim">None yet. Write something.</p>}
            <ul class="list">
              {sessions.data?.list.map(({ session_id: id, agent_id: who, title, updated_at: updated }) => (
                <li key={`${who} ${id}`}>
                  <a
                    href={chatUrl({ agent: who, session: id })}
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
            {sessions.data?.hasMore === true && (
              <button type="button" class="small" onClick={() => setPages(pages + 1)}>
                Show earlier ones
              </button>
            )}
          </nav>
          {agent !== undefined && (
            <div class="talks">
              <Talk
                key={`${agent} ${session ?? 'new'}`}
                agent={agent}
                session={session}
                title={beside.length > 0 ? nameOf(agent) : undefined}
                moved={(id) => navigate(chatUrl({ agent, session: id }, beside), { replace: true })}
              />
              {beside.map((one, at) => (
                <Talk
                  key={`${at} ${one.agent} ${one.session ?? 'new'}`}
                  agent={one.agent}
                  session={one.session}
                  title={nameOf(one.agent)}
                  moved={(id) =>
                    navigate(chatUrl({ agent, session }, beside.with(at, { ...one, session: id })), { replace: true })
                  }
                  close={() => navigate(chatUrl({ agent, session }, beside.toSpliced(at, 1)))}
                />
              ))}
            </div>
          )}
        </div>
      )}
    </Page>
  );
}

/** A conversation on the page. Without a session, it has not begun. */
interface Place {
  readonly agent: string;
  readonly session?: string | undefined;
}

/** The URL of a conversation, with other conversations beside it. */
function chatUrl({ agent, session }: Place, beside: readonly Place[] = []): string {
  const query = new URLSearchParams({ agent });
  for (const one of beside)
    query.append('beside', [one.agent, one.session ?? ''].map((part) => encodeURIComponent(part)).join('/'));
  return `${session === undefined ? pageUrl('chat') : pageUrl('chat', session)}?${query}`;
}

function readPlace(text: string): Place | undefined {
  try {
    const [agent = '', session = ''] = text.split('/').map(decodeURIComponent);
    return agent === '' ? undefined : { agent, session: session === '' ? undefined : session };
  } catch {
    return undefined;
  }
}

/** The first pages of the list of conversations, the last used first. */
async function latestSessions(client: Client, pages: number) {
  const found = await Promise.all(Array.from({ length: pages }, (_, at) => client.sessions.list({ page: at + 1 })));
  return { list: found.flatMap(({ sessions }) => sessions), hasMore: pages < (found[0]?.total_pages ?? 0) };
}

/** The messages of conversations that began on this page, so that their view is kept when the URL gets their id. */
const started = new Map<string, readonly Sent[]>();

interface Sent {
  readonly text: string;
  /** The names of attached files. */
  readonly names: readonly string[];
  readonly answer: Answer;
}

interface TalkParts extends Place {
  /** The name of the agent, if there are several conversations on the page. */
  readonly title: string | undefined;
  /** Called when the conversation has begun, with its session. */
  readonly moved: (session: string) => void;
  readonly close?: () => void;
}

function Talk({ agent, session, title, moved, close }: TalkParts) {
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
    if (session === undefined) moved(id);
    else setSent(all);
  };
  /** Creates a session with the start of the message as its title. */
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
      {title !== undefined && (
        <div class="bar spread">
          <h2>
            <Text value={title} />
          </h2>
          {close !== undefined && (
            <button type="button" class="quiet small" onClick={close}>
              Close
            </button>
          )}
        </div>
      )}
      <div
        class="talk"
        tabIndex={0}
        aria-label={title === undefined ? 'Conversation' : `Conversation with ${title}`}
        role="log"
      >
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
 * An earlier turn. The latest turns are read again frame by frame, so that they look the same and running ones
 * continue. Older turns show only their result.
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
  // While an agent waits for an answer to its question, the question is the last frame.
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

/** How many conversations may be open beside the first one. */
const MOST_BESIDE = 3;

/** How many turns of a conversation are shown in full when it is opened. */
const WHOLE_TURNS = 12;
