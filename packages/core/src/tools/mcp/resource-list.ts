/**
 * Whether the operator's list has a URI: by itself, or by how it begins, where the entry ends with `*`. Without a list there is
 * everything. A URI that walks back (`..`, also escaped) begins in one place and ends in another, so no beginning lets it in.
 */
export function isListed(uri: string, list: readonly string[] | undefined): boolean {
  if (list === undefined || list.includes(uri)) return true;
  if (WALKS_BACK.test(uri)) return false;
  return list.some((one) => one.endsWith('*') && uri.startsWith(one.slice(0, -1)));
}

/** RFC 3986 §3.3: a segment of one or two dots, before a slash, a backslash that is taken for one, or the end. */
const WALKS_BACK = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\?#]|%2f|%5c|$)/i;
