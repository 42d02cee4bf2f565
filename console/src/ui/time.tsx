import { signal } from '@preact/signals';

import { serviceNowMs } from '#console/app/service-clock.ts';

import { formatDate, formatExactTime, formatRelative, formatTime } from './format.ts';

const UPDATE_MS = 30_000;

/** Changes when relative times are to be written again. */
const updates = signal(0);
setInterval(() => {
  if (document.visibilityState === 'visible') updates.value += 1;
}, UPDATE_MS);

interface TimeProps {
  /** ISO 8601; null shows `never` or another word. */
  readonly at: string | null | undefined;
  /** `relative`: 3 days ago; `date`: without the time of day. Default: date and time. */
  readonly as?: 'relative' | 'date' | 'time';
  readonly never?: string;
}

/** A point in time; the pointer shows the exact time. */
export function Time({ at, as = 'time', never = 'never' }: TimeProps) {
  if (at == null) return <span class="dim">{never}</span>;
  return (
    <time dateTime={at} onMouseEnter={showExactTime}>
      {as === 'relative' ? formatUpdated(at) : formatAbsolute(at, as)}
    </time>
  );
}

function formatUpdated(at: string): string {
  // Reads the signal, so that the component is rendered again.
  void updates.value;
  return formatRelative(at, serviceNowMs());
}

/** Sets the title only when it is needed: a list has hundreds of times. */
function showExactTime({ currentTarget }: { readonly currentTarget: HTMLTimeElement }): void {
  currentTarget.title = formatExactTime(currentTarget.dateTime);
}

function formatAbsolute(at: string, as: 'date' | 'time'): string {
  return as === 'date' ? formatDate(at) : formatTime(at);
}
