import type { Announced, Slot } from './slots.ts';

/** A run's place until it is recorded: a slot, or the right to wait for one. Release it exactly once. */
export class RunPlace {
  #slot: Slot | undefined;
  readonly #announced: Announced | undefined;
  readonly #onRelease: () => void;

  constructor(slot: Slot | undefined, announced: Announced | undefined, onRelease: () => void) {
    this.#slot = slot;
    this.#announced = announced;
    this.#onRelease = onRelease;
  }

  get hasSlot(): boolean {
    return this.#slot !== undefined;
  }

  /** Whether too many runs wait already. Only a repeat can be answered then. */
  get isRefused(): boolean {
    return this.#slot === undefined && this.#announced === undefined;
  }

  /** Hands the slot over to a run, which then releases it. */
  takeSlot(): Slot | undefined {
    const slot = this.#slot;
    this.#slot = undefined;
    return slot;
  }

  release(): void {
    this.#slot?.release();
    this.#announced?.release();
    this.#onRelease();
  }
}
