/**
 * Whether the operator's list allows a URI: it contains the URI, or an entry that ends with `*` after a prefix of the
 * URI. Without a list all are allowed. Prefixes do not match a URI that contains `..` (escaped or not), because it
 * leads elsewhere; nor one with characters that many parsers drop, because dropping them can make `..`.
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
