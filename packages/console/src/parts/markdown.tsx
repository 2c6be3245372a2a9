import DOMPurify, { type Config } from 'dompurify';
import { Marked } from 'marked';
import { useEffect, useRef } from 'preact/hooks';
import { visibleText } from './text.tsx';

/**
 * Markdown of an agent. HTML in it is shown as text, the sanitizer keeps only a few elements and none that loads
 * anything, and a link shows its target.
 */
export function Markdown({ text }: { readonly text: string }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const html = marked.parse(visibleText(text), { async: false });
    const fragment = DOMPurify.sanitize(html, SAFE);
    for (const link of fragment.querySelectorAll('a')) {
      const to = link.getAttribute('href');
      link.target = '_blank';
      link.rel = 'noopener noreferrer nofollow';
      if (to !== null && to !== link.textContent) link.after(` ‹${visibleText(to)}›`);
    }
    place.current?.replaceChildren(fragment);
  }, [text]);
  return <div class="markdown" ref={place} />;
}

const SAFE = {
  ALLOWED_TAGS: [
    ...['p', 'br', 'hr', 'strong', 'em', 'del', 'code', 'pre', 'blockquote', 'ul', 'ol', 'li', 'a'],
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ],
  ALLOWED_ATTR: ['href', 'start', 'align'],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
} satisfies Config & { RETURN_DOM_FRAGMENT: true };

const marked = new Marked({ gfm: true, breaks: true });
marked.use({
  renderer: {
    html: ({ text }) => escaped(text),
    // An image would send a request to a URL that the agent chooses.
    image: ({ href, text }) => escaped(`[image: ${text} ‹${href}›]`),
  },
});

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
