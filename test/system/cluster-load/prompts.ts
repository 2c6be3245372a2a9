import { setTimeout as pause } from 'node:timers/promises';
import * as acp from '@agentclientprotocol/sdk';
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { Editor, faults, openSession, prompt } from '../acp-editor.ts';
import type { System } from '../system.ts';
import type { LoadClient, LoadContext } from './load-context.ts';

/** Prompts of an ACP editor over a WebSocket. After a kill, `session/load` at another node shows the prompt and the rest of its answer. */
export function prompts(load: LoadContext): LoadClient {
  const fates = load.fatesOf('prompts');
  const open = <T>(node: System, work: (context: acp.ClientContext, editor: Editor) => Promise<T>) => {
    const stream = createWebSocketStream(`${node.url.replace('http', 'ws')}/acp/agents/paced`, {
      WebSocket: WebSocket as never,
      headers: { authorization: `Bearer ${load.cluster.key}` },
    });
    const editor = new Editor();
    return editor.run(stream, (context) => work(context, editor));
  };
  return {
    async send() {
      const words = load.words();
      const whole = words.join('');
      let sessionId: string | undefined;
      const text = await load.untilAnswered(fates, (node) =>
        open(node, async (context, editor) => {
          if (sessionId === undefined) ({ sessionId } = await openSession(context));
          else await loadSession(context, sessionId);
          if (promptsIn(editor).length > 0) return loadedText(context, editor, whole);
          const end = await promptEnd(context, sessionId, words.join(' '));
          return editor.text + end;
        }),
      );
      const shown = text.replace(FAILED, '');
      if (shown === text) expect(text, sessionId).toBe(whole);
      else expect(whole.startsWith(shown), `${sessionId}: ${text}`).toBe(true);
      fates[shown === text ? 'complete' : 'interrupted'] += 1;
      // Another editor sees one prompt, and the same answer.
      const [requestId] = await load.untilAnswered(fates, (node) =>
        open(node, async (context, editor) => {
          await loadSession(context, String(sessionId));
          expect(promptsIn(editor), sessionId).toHaveLength(1);
          expect((await loadedText(context, editor, whole)).replace(FAILED, ''), sessionId).toBe(shown);
          return promptsIn(editor);
        }),
      );
      load.ended.set(String(requestId), undefined);
    },
    async check() {
      expect(faults.splice(0)).toEqual([]);
    },
  };
}

const loadSession = (context: acp.ClientContext, sessionId: string) =>
  context.request(acp.methods.agent.session.load, { sessionId, cwd: '/work', mcpServers: [] });

/** The answer in a loaded session. What follows there has no end of its own: it is over when the text is whole, or says that it failed. */
async function loadedText(context: acp.ClientContext, editor: Editor, whole: string): Promise<string> {
  while (editor.text !== whole && !FAILED.test(editor.text)) {
    // Rejects when the connection is lost.
    await context.request(acp.methods.agent.session.list, {});
    await pause(20);
  }
  return editor.text;
}

/** The end of a prompt, as a loaded session shows it. */
async function promptEnd(context: acp.ClientContext, sessionId: string, text: string): Promise<string> {
  try {
    expect(await prompt(context, sessionId, text)).toEqual({ stopReason: 'end_turn' });
    return '';
  } catch (error) {
    const code = (error as { data?: { e2a_code?: string } }).data?.e2a_code;
    if (code === 'E2A.INTERRUPTED') return `This answer has failed: (${code})`;
    throw error;
  }
}

/** The ids of the requests whose prompts were shown. */
function promptsIn({ updates }: Editor): string[] {
  return updates.flatMap(({ update }) =>
    update.sessionUpdate === 'user_message_chunk' ? [String(update.messageId).replace(/-user$/, '')] : [],
  );
}

const FAILED = /This answer has failed: .*\(E2A\.INTERRUPTED\)$/;
