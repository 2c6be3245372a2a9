import type { Check } from '../call/handler.ts';
import type { Clock } from '../ports/ports.ts';

/** E2A §4.2: an envelope converted here from another protocol has the time of the conversion. */
export function stampConversion(clock: Clock): Check {
  return (next) => (envelope, call) => {
    const { provenance } = envelope;
    if (provenance.converter !== 'dragoman' || provenance.converted_at !== null) return next(envelope, call);
    const converted_at = clock.now().toISOString();
    return next({ ...envelope, provenance: { ...provenance, converted_at } }, call);
  };
}
