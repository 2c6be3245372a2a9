/**
 * A callback URL as it is called, whichever way it was written: `HTTPS://Agent.example/a/../in` is `https://agent.example/in`.
 * A receiver that is gone must not be called again by another spelling.
 */
export function addressOf(callbackUrl: string): string {
  return new URL(callbackUrl).href;
}
