import type { ServerMethod } from './server-methods.ts';

/** The capabilities of this server, for the first request of an ACP client. */
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
