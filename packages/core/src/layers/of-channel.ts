import type { Layer } from '../call/handler.ts';

/** Applies the layer of an envelope's channel, with which its endpoint changes requests before they reach the agent. */
export function ofChannel(layers: ReadonlyMap<string, Layer>): Layer {
  return (next) => (envelope, call) => {
    const layer = envelope.channel === null ? undefined : layers.get(envelope.channel);
    return (layer?.(next) ?? next)(envelope, call);
  };
}
