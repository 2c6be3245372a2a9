/**
 * Whether the operator's list has a URI: by itself, or by how it begins, where the entry ends with `*`. Without a list there is
 * everything. A URI that walks back (`..`, escaped or not) begins in one place and ends in another, so no beginning lets it in; nor
 * one that has what many readers pass over, who find two dots where a tab stands between them.
 */
export function isListed(uri: string, list: readonly string[] | undefined): boolean {
  if (list === undefined || list.includes(uri)) return true;
  if (WALKS_BACK.test(uri) || PASSED_OVER.test(uri)) return false;
  return list.some((one) => one.endsWith('*') && uri.startsWith(one.slice(0, -1)));
}

/** RFC 3986 §3.3: a segment of one or two dots, before a slash, a backslash that is taken for one, or the end. */
const WALKS_BACK = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\?#]|%2f|%5c|$)/i;
/** WHATWG URL, basic parser: tabs and line ends are removed wherever they are, controls and spaces at the end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const PASSED_OVER = /[\u0000-\u001f]| $/;
