// Agent Client Protocol, version 1: what an endpoint and a driver need beside the adapters of the hub.

export { acpError } from './errors.ts';
export { acpPromptParams, userBlocksOf } from './prompt.ts';
export { type AcpConverted, AcpUpdates } from './updates.ts';
export { validAcpBlock, validAcpUpdate } from './valid-update.ts';
