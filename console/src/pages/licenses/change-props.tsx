import type { AdminLicenseDetails } from '@latchkey/contract';

import { Facts } from '#console/ui/facts.tsx';
import { labelOf } from '#console/ui/labels.ts';

import { AFFECTED } from './license-labels.ts';

/** What all changes of a license have in common. */
export function based({ id, version }: AdminLicenseDetails) {
  return {
    params: { id },
    version,
    reason: 'required',
    invalidates: AFFECTED,
    describeCurrent,
  } as const;
}

/** The part of the current state that decides most changes. */
function describeCurrent(current: Record<string, unknown>) {
  const text = (name: string): string => {
    const value = current[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '–';
  };
  return (
    <Facts
      items={[
        ['Status', labelOf(text('status'))],
        ['Ends', text('expires_at')],
        ['Machines', `${text('active_machines')} of ${text('max_activations')}`],
        ['Customer', text('customer_email')],
      ]}
    />
  );
}
