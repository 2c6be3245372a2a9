// An agent of the official SDK on its own server, over WebSocket: sends the number of words that the prompt names.
import { createServer } from 'node:http';
import * as acp from '@agentclientprotocol/sdk';
import { createNodeWebSocketUpgradeHandler } from '@agentclientprotocol/sdk/experimental/node';
import { AcpServer } from '@agentclientprotocol/sdk/experimental/server';
import { WebSocketServer } from 'ws';

const agent = acp
  .agent({ name: 'sdk-agent' })
  .onRequest(acp.methods.agent.initialize, async () => ({ protocolVersion: 1, agentCapabilities: {} }))
  .onRequest(acp.methods.agent.session.new, async () => ({ sessionId: 's' }))
  .onRequest(acp.methods.agent.session.prompt, async ({ params, client }) => {
    const { sessionId, prompt } = params;
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'word ' } };
    for (let count = 0; count < Number(prompt[0].text); count++) {
      await client.notify(acp.methods.client.session.update, { sessionId, update });
    }
    return { stopReason: 'end_turn' };
  });
const http = createServer();
const server = new AcpServer({ agent });
http.on('upgrade', createNodeWebSocketUpgradeHandler(server, new WebSocketServer({ noServer: true })));
http.listen(0, '127.0.0.1', () => process.send({ port: http.address().port }));
process.on('disconnect', () => process.exit(0));
