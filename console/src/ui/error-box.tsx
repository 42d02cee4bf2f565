import type { ComponentChildren } from 'preact';

import type { ApiError } from '#console/app/api-error.ts';

import { Button } from './button.tsx';

/** What to do about an error, where its own sentence does not say it. */
const ADVICE: Readonly<Record<string, string>> = {
  forbidden: 'Ask an administrator for a role that allows it.',
  not_found: 'It may have been removed. Go back to the list.',
  overloaded: 'The service is busy. Try again in a moment.',
  database_unavailable: 'The service cannot reach its database. Try again in a moment.',
  unknown: 'Try again. If it fails again, look at the log of the service.',
  internal_error: 'Try again. If it fails again, look at the log of the service.',
};

interface ErrorBoxProps {
  readonly error: ApiError;
  /** Shows a button that tries again. */
  readonly onRetry?: () => void;
  readonly children?: ComponentChildren;
}

/** An error with what to do about it. */
export function ErrorBox({ error, onRetry, children }: ErrorBoxProps) {
  const { retryAfterSeconds: wait } = error;
  const advice = wait === null ? ADVICE[error.code] : `Try again in ${describeWait(wait)}.`;
  return (
    <div class="notice error" role="alert">
      <p>
        {error.message} {advice}
      </p>
      {children}
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}

function describeWait(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}

interface NoticeProps {
  readonly kind?: 'info' | 'good' | 'warning' | 'error';
  readonly children?: ComponentChildren;
}

/** A sentence that stands out. */
export function Notice({ kind = 'info', children }: NoticeProps) {
  return <div class={`notice ${kind}`}>{children}</div>;
}
