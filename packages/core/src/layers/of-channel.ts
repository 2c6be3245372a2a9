import type { Layer } from '../call/handler.ts';

/** What an endpoint does to the requests of its channel on their way to the agent. */
export function ofChannel(layers: ReadonlyMap<string, Layer>): Layer {
  return (next) => (envelope, call) => {
    const layer = envelope.channel === null ? undefined : layers.get(envelope.channel);
    return (layer?.(next) ?? next)(envelope, call);
  };
}
