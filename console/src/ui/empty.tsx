import type { ComponentChildren } from 'preact';

interface EmptyProps {
  readonly title: string;
  /** What to do, or why it is empty. */
  readonly children?: ComponentChildren;
}

/** What stands where nothing is. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <div>{children}</div>}
    </div>
  );
}

/** The place of something that is loading; visible after a moment, so that fast answers do not flicker. */
export function Loading() {
  return (
    <p class="loading" role="status">
      Loading …
    </p>
  );
}
