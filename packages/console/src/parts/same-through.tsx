import { useState } from 'preact/hooks';
import { Code } from './json.tsx';

/** The same request in other clients and protocols, ready to paste. The key is read from DRAGOMAN_KEY. */
export function SameThrough({ agent, text }: { readonly agent: string; readonly text: string }) {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState('curl');
  const write = SAME[name] ?? SAME['curl'];
  return (
    <>
      <button type="button" class="quiet small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        the same through…
      </button>
      {isOpen && (
        <div style={{ flexBasis: '100%', minWidth: 0 }}>
          <div class="bar">
            {Object.keys(SAME).map((one) => (
              <button type="button" class="small" key={one} aria-pressed={one === name} onClick={() => setName(one)}>
                {one}
              </button>
            ))}
          </div>
          <Code text={write?.(agent, text) ?? ''} label={`The same request by ${name}`} />
        </div>
      )}
    </>
  );
}

const shell = (value: unknown) => `'${JSON.stringify(value).replaceAll("'", "'\\''")}'`;
const key = '-H "Authorization: Bearer $DRAGOMAN_KEY"';
const json = "-H 'Content-Type: application/json'";

const MCP_VERSION = '2026-07-28';

const SAME: Readonly<Record<string, (agent: string, text: string) => string>> = {
  curl: (agent, text) =>
    [
      `curl -N '${location.origin}/e2a/agents/${encodeURIComponent(agent)}' ${key} ${json} \\`,
      `  -H 'Accept: text/event-stream' \\`,
      `  -d ${shell({ method: 'chat.send', params: { content: text }, is_stream: true })}`,
    ].join('\n'),
  TypeScript: (agent, text) =>
    [
      "import { createClient } from '@dragoman/client';",
      '',
      `const client = createClient({ url: '${location.origin}', key: process.env.DRAGOMAN_KEY });`,
      `console.log(await client.send(${JSON.stringify(text)}, { agent: ${JSON.stringify(agent)} }).text());`,
    ].join('\n'),
  Python: (agent, text) =>
    [
      'import json, os, urllib.request',
      '',
      'request = urllib.request.Request(',
      `    "${location.origin}/e2a/agents/${encodeURIComponent(agent)}",`,
      `    data=json.dumps({"method": "chat.send", "params": {"content": ${JSON.stringify(text)}}}).encode(),`,
      '    headers={"Authorization": "Bearer " + os.environ["DRAGOMAN_KEY"], "Content-Type": "application/json"},',
      ')',
      'print(json.load(urllib.request.urlopen(request)))',
    ].join('\n'),
  A2A: (agent, text) =>
    [
      `curl '${location.origin}/lf-a2a/agents/${encodeURIComponent(agent)}' ${key} ${json} -H 'A2A-Version: 1.0' \\`,
      `  -d ${shell({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text }] } },
      })}`,
    ].join('\n'),
  MCP: (agent, text) =>
    [
      `curl '${location.origin}/mcp' ${key} ${json} -H 'Accept: application/json, text/event-stream' \\`,
      `  -H 'MCP-Protocol-Version: ${MCP_VERSION}' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: ask_${agent}' \\`,
      `  -d ${shell({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: `ask_${agent}`,
          arguments: { prompt: text },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': MCP_VERSION,
            'io.modelcontextprotocol/clientInfo': { name: 'curl', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      })}`,
    ].join('\n'),
  OpenAI: (agent, text) =>
    [
      `curl '${location.origin}/v1/chat/completions' ${key} ${json} \\`,
      `  -d ${shell({ model: agent, messages: [{ role: 'user', content: text }] })}`,
    ].join('\n'),
  mailbox: (agent, text) =>
    [
      `curl '${location.origin}/a2a' ${key} ${json} \\`,
      `  -d ${shell({ from: { name: 'Me' }, to: { name: agent }, message: text })}`,
    ].join('\n'),
};
