import type { Operator, OperatorRole } from '@latchkey/contract';

import type { Tone } from '#console/ui/badge.tsx';

/** What each role may do, for a choice. */
export const ROLE_OPTIONS: readonly { readonly value: OperatorRole; readonly label: string }[] = [
  { value: 'viewer', label: 'viewer: reads, without license keys and exports of addresses' },
  { value: 'support', label: 'support: also helps customers (keys, machines, e-mails)' },
  { value: 'admin', label: 'admin: everything, including keys and operators' },
];

export const STATES: readonly Operator['state'][] = ['active', 'invited', 'disabled'];

const TONES: Readonly<Record<Operator['state'], Tone>> = {
  active: 'good',
  invited: 'info',
  disabled: 'muted',
};

export function toneOfState(state: Operator['state']): Tone {
  return TONES[state];
}
