/**
 * Keeps an event loop from going to sleep while what it waits for is near. To wake a process takes longer than all the rest of a
 * small call, on virtual machines several times as long; so who has said something and knows its answers to be quick looks for
 * the next one over a few turns of its loop.
 *
 * Where answers are not quick it seldom looks: each time in vain it lets more than twice as many go by before it tries again, until
 * one is in time. One in vain among several in time is nothing to go by: a machine that others use is away now and then, and who
 * goes to sleep for that keeps the other side waiting, which then goes to sleep as well. And it does not look for long where
 * several are awaited, for then somebody else may need the processor to answer them.
 */
export class Vigil {
  readonly #soon: (look: () => void) => void;
  /** Turns that are still looked over; 0 when nothing is awaited. */
  #turns = 0;
  #isLooking = false;
  /** How many are let go by between two looks, and how many of them are left. */
  #pause = 0;
  #left = 0;
  /** Looks in time that have not made up for one in vain yet. */
  #credit = 0;

  /** `soon` calls back when the loop has looked once at all that may come: `setImmediate` in Node. */
  constructor(soon: (look: () => void) => void) {
    this.#soon = soon;
  }

  /** Something was said, and what comes next may be near. */
  begin({ isAlone }: { readonly isAlone: boolean }): void {
    if (this.#left > 0) {
      this.#left -= 1;
      return;
    }
    this.#turns = isAlone ? TURNS_ALONE : TURNS_AMONG_OTHERS;
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#soon(this.#look);
  }

  /** It has come. */
  end(): void {
    if (this.#turns === 0) return;
    if (this.#credit < MOST_CREDIT) this.#credit += 1;
    this.#rest(0);
  }

  readonly #look = (): void => {
    if (this.#turns > 1) {
      this.#turns -= 1;
      this.#soon(this.#look);
      return;
    }
    this.#isLooking = false;
    if (this.#turns === 0) return;
    const isForgiven = this.#credit >= IN_VAIN;
    this.#credit = isForgiven ? this.#credit - IN_VAIN : 0;
    this.#rest(isForgiven ? 0 : Math.min(2 * this.#pause + 3, LONGEST_PAUSE));
  };

  #rest(pause: number): void {
    this.#turns = 0;
    this.#pause = pause;
    this.#left = pause;
  }
}

/** A turn in which nothing comes takes a microsecond or two. */
const TURNS_ALONE = 300;
const TURNS_AMONG_OTHERS = 30;
const LONGEST_PAUSE = 63;
/** What a look in vain costs, in looks that were in time; and how many of these are remembered. */
const IN_VAIN = 4;
const MOST_CREDIT = 16;
