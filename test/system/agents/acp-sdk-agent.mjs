// An agent made with the official TypeScript SDK: streams, calls a tool, and asks before it does. On its standard streams, or with
// the argument `serve` over WebSocket and Streamable HTTP; then the first line on stdout is where.
import { createServer } from 'node:http';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } from '@agentclientprotocol/sdk/experimental/node';
import { AcpServer } from '@agentclientprotocol/sdk/experimental/server';
import { WebSocketServer } from 'ws';

const cancelled = new Map();
let sessions = 0;

const agent = acp
  .agent({ name: 'sdk-agent' })
  .onRequest(acp.methods.agent.initialize, async () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentCapabilities: {},
  }))
  .onRequest(acp.methods.agent.session.new, async () => ({ sessionId: `sdk-${sessions++}` }))
  .onNotification(acp.methods.agent.session.cancel, ({ params }) => cancelled.get(params.sessionId)?.())
  .onRequest(acp.methods.agent.session.prompt, async ({ params, client }) => {
    const { sessionId, prompt } = params;
    const tell = (update) => client.notify(acp.methods.client.session.update, { sessionId, update });
    await tell({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'I will edit. ' } });
    if (prompt[0].text === 'hold') {
      await new Promise((resolve) => cancelled.set(sessionId, resolve));
      return { stopReason: 'cancelled' };
    }
    const toolCall = { toolCallId: 'call-1', title: 'Edit config.json', kind: 'edit', status: 'pending' };
    await tell({ sessionUpdate: 'tool_call', ...toolCall });
    const { outcome } = await client.request(acp.methods.client.session.requestPermission, {
      sessionId,
      toolCall,
      options: [
        { optionId: 'go', name: 'Allow', kind: 'allow_once' },
        { optionId: 'stop', name: 'Skip', kind: 'reject_once' },
      ],
    });
    const isAllowed = outcome.outcome === 'selected' && outcome.optionId === 'go';
    await tell({ sessionUpdate: 'tool_call_update', toolCallId: 'call-1', status: isAllowed ? 'completed' : 'failed' });
    const text = isAllowed ? 'Edited.' : 'Left alone.';
    await tell({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
    return { stopReason: 'end_turn' };
  });

if (process.argv[2] === 'serve') {
  const server = new AcpServer({ agent });
  const http = createServer(createNodeHttpHandler(server));
  http.on('upgrade', createNodeWebSocketUpgradeHandler(server, new WebSocketServer({ noServer: true })));
  http.listen(0, '127.0.0.1', () => process.stdout.write(`${http.address().port}\n`));
  process.stdin.resume().once('end', () => process.exit());
} else {
  agent.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
}
