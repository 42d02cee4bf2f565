import type { AdminLicenseDetails } from '@latchkey/contract';

import { hasRole } from '#console/app/session.ts';
import { Section } from '#console/ui/page.tsx';

import {
  AllowMoves,
  ChangeLimit,
  ChangeOwner,
  ChangeUpdates,
  Extend,
  Reinstate,
  Revoke,
  Suspend,
} from './actions.tsx';
import { Rekey, Resend } from './key-actions.tsx';

/** Everything that the operator may do with a license. */
export function LicenseActions({ license }: { readonly license: AdminLicenseDetails }) {
  if (!hasRole('support')) return null;
  const isStopped =
    license.suspended_at !== null || license.revoked_at !== null || license.disputed_at !== null;
  return (
    <Section title="Actions">
      <div class="action-list">
        <Resend license={license} />
        <Extend license={license} />
        {license.updates_until !== null && <ChangeUpdates license={license} />}
        <AllowMoves license={license} />
        <ChangeLimit license={license} />
        <ChangeOwner license={license} />
        <Rekey license={license} />
        {isStopped ? <Reinstate license={license} /> : <Suspend license={license} />}
        {license.revoked_at === null && <Revoke license={license} />}
      </div>
    </Section>
  );
}
