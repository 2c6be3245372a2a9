// Agent Client Protocol, version 1: the parts of an endpoint and a driver beyond the adapters of the hub.

export { acpError } from './errors.ts';
export { acpPromptParams, userBlocksOf } from './prompt.ts';
export { type AcpConverted, AcpUpdates } from './updates.ts';
export { validAcpBlock, validAcpUpdate } from './valid-update.ts';
