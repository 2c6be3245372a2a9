// An example says what it has shown, step by step, and at its end that all of it held.
let steps = 0;

export function step(what) {
  steps += 1;
  console.log(`${steps}. ${what}`);
}

export function allHold() {
  console.log(`All ${steps} steps hold.`);
}
