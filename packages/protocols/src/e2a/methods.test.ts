import { describe, expect, test } from 'vitest';
import { ACP_CLIENT_TO_AGENT_METHODS, ACP_SESSION_UPDATE_KINDS, GATEWAY_METHODS, methodOwner } from './methods.ts';

describe('the owner of a method', () => {
  test.each([
    [null, 'none'],
    ['ext', 'ext'],
    ['session/prompt', 'acp'],
    ['initialize', 'acp'],
    ['session/cancel', 'acp'],
    ['session/elicitation/complete', 'acp'],
    ['chat.send', 'gateway'],
    ['history.get', 'gateway'],
    ['team.mq.publish', 'gateway'],
    ['skills.marketplace.list', 'gateway'],
    ['permissions.rules.add', 'gateway'],
    ['channel.feishu.get_conf', 'gateway'],
    ['file.download.chunk', 'gateway'],
    ['channel.feishu.reboot', 'agent'],
    ['skills.run', 'agent'],
    ['translate', 'agent'],
    ['constructor', 'agent'],
    ['', 'agent'],
  ])('%s: %s', (method, owner) => {
    expect(methodOwner(method)).toBe(owner);
  });

  test('the lists name nothing twice', () => {
    for (const list of [GATEWAY_METHODS, ACP_CLIENT_TO_AGENT_METHODS, ACP_SESSION_UPDATE_KINDS]) {
      expect(new Set(list).size).toBe(list.length);
    }
  });
});
