import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/ports.ts';

/**
 * Stops calls to an origin that keeps failing:
 *
 *   closed ──5 failures in a row──▶ open ──60 s──▶ half-open: one may try
 *     ▲                              ▲                │
 *     └──────────success─────────────┼────────────────┤
 *                                    └────failure─────┘
 */
export class CircuitBreaker {
  readonly #clock: Clock;
  readonly #circuits = new LRUCache<string, Circuit>({ max: 10_000 });

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock;
  }

  /** 0: the call may start, and its outcome must be reported. Otherwise the milliseconds until the next try. */
  admit(name: string): number {
    const circuit = this.#circuits.get(name);
    if (circuit?.openUntil === undefined) return 0;
    const wait = circuit.openUntil - this.#clock.elapsed();
    if (wait > 0) return wait;
    // Half-open: this call tries, and the circuit stays open for all others in the meantime.
    circuit.openUntil = this.#clock.elapsed() + OPEN_MS;
    return 0;
  }

  succeeded(name: string): void {
    this.#circuits.delete(name);
  }

  failed(name: string): void {
    const circuit = this.#circuits.get(name) ?? { failures: 0, openUntil: undefined };
    circuit.failures++;
    if (circuit.failures >= MOST_FAILURES) circuit.openUntil = this.#clock.elapsed() + OPEN_MS;
    this.#circuits.set(name, circuit);
  }
}

interface Circuit {
  failures: number;
  openUntil: number | undefined;
}

const MOST_FAILURES = 5;
const OPEN_MS = 60_000;
