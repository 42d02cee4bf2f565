import type { AdminLicenseDetails, OperatorRole } from '@latchkey/contract';

import { Advice } from '#console/ui/advice.tsx';

import { AllowMoves, ChangeLimit, ChangeOwner, Extend, Reinstate } from './actions.tsx';
import { Resend } from './key-actions.tsx';

interface LicenseProps {
  readonly license: AdminLicenseDetails;
}

/** Why the license does not work on a computer, what to do, and the actions that help. */
export function DiagnosisBox({ license }: LicenseProps) {
  const { diagnosis } = license;
  return (
    <section class={`diagnosis ${diagnosis.level}`} aria-label="Diagnosis">
      <p class="sentence">{diagnosis.sentence}</p>
      <Advice text={diagnosis.advice} role={roleFor(diagnosis.actions)} />
      <div class="actions">
        {diagnosis.actions.map((action) => {
          const Helping = HELPING[action];
          return Helping === undefined ? null : <Helping key={action} license={license} />;
        })}
      </div>
    </section>
  );
}

const NEEDS_ADMIN = new Set(['change_limit', 'reinstate', 'change_owner', 'issue']);

/** The lowest role that can do one of the actions. */
function roleFor(actions: readonly string[]): OperatorRole {
  if (actions.length === 0) return 'viewer';
  return actions.every((action) => NEEDS_ADMIN.has(action)) ? 'admin' : 'support';
}

/** Freeing a machine is beside each machine, which is below. */
const HELPING: Readonly<Record<string, (props: LicenseProps) => preact.ComponentChildren>> = {
  change_limit: ChangeLimit,
  allow_moves: AllowMoves,
  extend: Extend,
  reinstate: Reinstate,
  resend: Resend,
  change_owner: ChangeOwner,
};
