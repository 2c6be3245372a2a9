import { computed, signal } from '@preact/signals';

const here = () => location.pathname + location.search;

const address = signal(here());

/** The current page, the parts of its path, and its query. */
export const route = computed(() => {
  const url = new URL(address.value, location.origin);
  const [, first = '', page = '', ...rest] = url.pathname.split('/');
  const parts = rest.filter((part) => part !== '').map(decodePart);
  return { page: first === 'console' ? page : '', rest: parts, query: url.searchParams };
});

/** Opens another page or, with `replace`, changes the URL of this one. */
export function navigate(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (to === here()) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  address.value = here();
  if (!replace) scrollTo(0, 0);
}

/** The address of a page: `pageUrl('requests', id)`. */
export function pageUrl(page: string, ...rest: readonly string[]): string {
  return page === '' ? '/' : ['/console', page, ...rest.map(encodeURIComponent)].join('/');
}

/** The current URL with other filters, so that it can be shared. Empty values are removed. */
export function withQuery(values: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, value);
  }
  return location.pathname + (query.size === 0 ? '' : `?${query}`);
}

/**
 * Handles clicks on links. A click without modifiers changes the page in place; the browser handles everything else.
 */
export function followLinks(): () => void {
  const onClick = (event: MouseEvent) => {
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!(link instanceof HTMLAnchorElement) || !isPlain || event.defaultPrevented || link.target !== '') return;
    if (link.origin !== location.origin || !isPage(link.pathname)) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  };
  const onPop = () => {
    address.value = here();
  };
  document.addEventListener('click', onClick);
  addEventListener('popstate', onPop);
  return () => {
    document.removeEventListener('click', onClick);
    removeEventListener('popstate', onPop);
  };
}

function isPage(path: string): boolean {
  return path === '/' || path.startsWith('/console/');
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
