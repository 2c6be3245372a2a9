import type { GatewayMethod } from './gateway.ts';

/** What this server can do, as an ACP client asks first. */
export const initialize: GatewayMethod = async function* () {
  return {
    protocolVersion: 1,
    agentInfo: { name: 'dragoman', title: 'Dragoman' },
    agentCapabilities: {
      loadSession: false,
      promptCapabilities: { image: false, audio: false, embeddedContext: false },
      sessionCapabilities: { list: true },
    },
    authMethods: [],
  };
};
