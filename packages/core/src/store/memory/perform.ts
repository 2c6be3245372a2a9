/** Does something as a call to the store would: later, and not once the store is closed. */
export type Perform = <Result>(operation: () => Result) => Promise<Result>;
