// An example prints each step it has shown, and at its end that all checks passed.
let steps = 0;

export function step(what) {
  steps += 1;
  console.log(`${steps}. ${what}`);
}

export function allHold() {
  console.log(`All ${steps} checks passed.`);
}
