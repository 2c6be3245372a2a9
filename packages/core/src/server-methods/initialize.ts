import type { ServerMethod } from './server-methods.ts';

/** What this server can do, as an ACP client asks first. */
export const initialize: ServerMethod = async function* (_envelope, _call, { version }) {
  return {
    protocolVersion: 1,
    agentInfo: { name: 'dragoman', title: 'Dragoman', version },
    agentCapabilities: {
      loadSession: false,
      promptCapabilities: { image: false, audio: false, embeddedContext: false },
      sessionCapabilities: { list: {} },
    },
    authMethods: [],
  };
};
