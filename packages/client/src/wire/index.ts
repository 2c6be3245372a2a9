// The public surface of `@dragoman/client/wire`. No other file of this package imports it.

export { type HttpWireOptions, httpWire } from './http-wire.ts';
export { type ByteStreams, type StreamWireOptions, streamWire } from './stream-wire.ts';
export { type WebSocketWireOptions, webSocketWire } from './web-socket-wire.ts';
export { connectWire, type RequestOptions, WireClient, type WireClientOptions } from './wire-client.ts';
export type { LinkHandlers, WireLink, WireTransport } from './wire-transport.ts';
