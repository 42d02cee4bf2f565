import { Badge, type Tone } from './badge.tsx';
import { labelOf } from './labels.ts';

const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  processed: 'good',
  sent: 'good',
  trialing: 'info',
  sending: 'info',
  waiting: 'warning',
  past_due: 'warning',
  paused: 'warning',
  deferred: 'warning',
  unknown: 'warning',
  suspended: 'bad',
  revoked: 'bad',
  refused: 'bad',
  failed: 'bad',
};

/** The status of a license, subscription, payment or e-mail, which looks the same on every page. */
export function Status({ of: status }: { readonly of: string }) {
  return <Badge tone={TONES[status] ?? 'muted'}>{labelOf(status)}</Badge>;
}
