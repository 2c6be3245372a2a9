/**
 * The normal form of a callback URL: `HTTPS://Agent.example./a/../in` becomes `https://agent.example/in`. A receiver
 * that has answered 410 Gone must not be called again under another spelling.
 */
export function addressOf(callbackUrl: string): string {
  const url = new URL(callbackUrl);
  // A trailing dot marks a fully qualified name, and every name here is one.
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.replace(/\.+$/, '');
  // A fragment is not sent (RFC 9110 §4.2.5), and an empty query is the same as none.
  url.hash = '';
  if (url.search === '') url.search = '';
  return url.href;
}
