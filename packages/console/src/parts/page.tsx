import type { ComponentChildren } from 'preact';

interface PageParts {
  readonly title: ComponentChildren;
  /** Shown beside the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Page({ title, actions, children }: PageParts) {
  return (
    <div class="page">
      <header>
        <h1>{title}</h1>
        {actions}
      </header>
      {children}
    </div>
  );
}

/** Shown instead of an empty list, with what to do about it. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
