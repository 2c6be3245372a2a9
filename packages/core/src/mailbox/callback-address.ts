/**
 * A callback URL as it is called, whichever way it was written: `HTTPS://Agent.example./a/../in` is `https://agent.example/in`.
 * A receiver that is gone must not be called again by another spelling.
 */
export function addressOf(callbackUrl: string): string {
  const url = new URL(callbackUrl);
  // A trailing dot marks a fully qualified name, and every name here is one.
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.replace(/\.+$/, '');
  // Neither is sent: RFC 9110 §4.2.5, and a query without anything in it.
  url.hash = '';
  if (url.search === '') url.search = '';
  return url.href;
}
