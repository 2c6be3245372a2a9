import type { Context } from './context.ts';

/**
 * The first Ctrl-C cancels and waits for the end; the second exits at once. Returns a function that stops listening.
 */
export function cancelOnSignal(cancel: () => Promise<unknown>, { onSignal, exit, terminal }: Context): () => void {
  let isCancelling = false;
  return onSignal(() => {
    if (isCancelling) return exit(1);
    isCancelling = true;
    terminal.note('\ncancelling; press Ctrl-C again to exit immediately\n');
    cancel().catch((error: unknown) => {
      terminal.note(`cancelling failed: ${error instanceof Error ? error.message : String(error)}\n`);
      exit(1);
    });
  });
}
