import type { ComponentChildren } from 'preact';

import type { Tone } from './badge.tsx';
import { Time } from './time.tsx';

/** Something that happened. */
export interface TimelineItem {
  readonly id: string;
  readonly at: string;
  readonly tone?: Tone;
  readonly title: ComponentChildren;
  /** Who did it, and why. */
  readonly detail?: ComponentChildren;
  /** Folded below it, such as a payload. */
  readonly more?: ComponentChildren;
}

/** What happened, newest first. */
export function Timeline({ items }: { readonly items: readonly TimelineItem[] }) {
  return (
    <ol class="timeline">
      {items.map(({ id, at, tone = 'muted', title, detail, more }) => (
        <li key={id} class={tone}>
          <div class="what">
            <span>{title}</span>
            <Time at={at} />
          </div>
          {detail && <div class="dim">{detail}</div>}
          {more && (
            <details>
              <summary>Details</summary>
              {more}
            </details>
          )}
        </li>
      ))}
    </ol>
  );
}

/** JSON with line breaks; text only. */
export function Json({ value }: { readonly value: unknown }) {
  return (
    <pre class="json" tabIndex={0}>
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}
