/** The changes of a license, each a button with its dialog. */
import type { AdminLicenseDetails } from '@latchkey/contract';
import {
  allowLicenseMoves,
  changeLicenseOwner,
  changeLicenseUpdates,
  changeMachineLimit,
  extendLicense,
  reinstateLicense,
  revokeLicense,
  suspendLicense,
} from '@latchkey/contract/admin/license-changes';
import { useState } from 'preact/hooks';

import { Field } from '#console/ui/field.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';

import { based } from './change-props.tsx';

interface LicenseProps {
  readonly license: AdminLicenseDetails;
}

export function Suspend({ license }: LicenseProps) {
  return (
    <OperationAction
      {...based(license)}
      of={suspendLicense}
      label="Suspend"
      title="Suspend the license"
      explanation="Its computers stop at their next validation, until you reinstate it."
      kind="danger"
      done="The license is suspended."
    />
  );
}

export function Reinstate({ license }: LicenseProps) {
  return (
    <OperationAction
      {...based(license)}
      of={reinstateLicense}
      label="Reinstate"
      title="Reinstate the license"
      explanation="It works again. A key that was held back is sent to the customer."
      done="The license is reinstated."
    />
  );
}

export function Revoke({ license }: LicenseProps) {
  return (
    <OperationAction
      {...based(license)}
      of={revokeLicense}
      label="Revoke"
      title="Revoke the license"
      explanation="Its computers stop at their next validation. It is meant for keys that were abused; only a reinstatement undoes it."
      kind="danger"
      done="The license is revoked."
    />
  );
}

export function Extend({ license }: LicenseProps) {
  return (
    <EndAction
      license={license}
      of={extendLicense}
      label="Extend"
      title="Change the end"
      explanation={
        license.expires_at === null
          ? 'The license is perpetual. Choose a date to give it an end.'
          : 'A later payment may move the end further, never back.'
      }
      done="The end is changed."
      never={license.trial ? null : 'Never: perpetual'}
      days="30"
      hint="The license ends at 0:00 UTC."
    />
  );
}

export function ChangeUpdates({ license }: LicenseProps) {
  return (
    <EndAction
      license={license}
      of={changeLicenseUpdates}
      label="Updates"
      title="Change the end of updates"
      explanation="Until then the license gets new versions. Renewals extend from the new end."
      done="The end of updates is changed."
      never="Never: all updates"
      days="365"
      hint="Updates end at 0:00 UTC."
    />
  );
}

interface EndActionProps extends LicenseProps {
  readonly of: typeof extendLicense | typeof changeLicenseUpdates;
  readonly label: string;
  readonly title: string;
  readonly explanation: string;
  readonly done: string;
  /** The choice of no end; null: it needs one. */
  readonly never: string | null;
  /** The days to add, as offered. */
  readonly days: string;
  readonly hint: string;
}

/** Moves an end of a license by days, or to a date. */
function EndAction({ license, of, never, days: offered, hint, ...texts }: EndActionProps) {
  const [end, setEnd] = useState('days');
  return (
    <OperationAction
      {...based(license)}
      of={of}
      {...texts}
      body={({ end: kind, days = '', until = '' }) => {
        if (kind === 'never') return { until: null };
        return kind === 'until' ? { until: `${until}T00:00:00Z` } : { days: Number(days) };
      }}
    >
      <Field
        label="New end"
        name="end"
        type="select"
        required
        value={end}
        onInput={setEnd}
        options={[
          { value: 'days', label: 'Some days later' },
          { value: 'until', label: 'On a date' },
          ...(never === null ? [] : [{ value: 'never', label: never }]),
        ]}
      />
      {end === 'days' && (
        <Field
          label="Days to add"
          name="days"
          type="number"
          value={offered}
          min={1}
          max={36_500}
          required
          hint="Counted from the end, or from now if that has passed."
        />
      )}
      {end === 'until' && <Field label="Date" name="until" type="date" required hint={hint} />}
    </OperationAction>
  );
}

export function ChangeLimit({ license }: LicenseProps) {
  return (
    <OperationAction
      {...based(license)}
      of={changeMachineLimit}
      label="Change limit"
      title="Change the machine limit"
      explanation="Machines beyond a lower limit stay active. Payments do not go below this limit."
      body={({ max_activations: limit = '' }) => ({ max_activations: Number(limit) })}
      done="The limit is changed."
    >
      <Field
        label="Machines"
        name="max_activations"
        type="number"
        value={String(license.max_activations)}
        min={1}
        max={1_000_000}
        required
      />
    </OperationAction>
  );
}

export function AllowMoves({ license }: LicenseProps) {
  const { used, limit, days, extra } = license.moves;
  return (
    <OperationAction
      {...based(license)}
      of={allowLicenseMoves}
      label="Allow a move"
      title="Allow more moves"
      explanation={`The license moved to ${used} different computers within ${days} days; ${limit} are allowed${extra === 0 ? '' : `, and ${extra} more by an operator`}.`}
      body={({ count = '' }) => ({ count: Number(count) })}
      done="The move is allowed."
    >
      <Field label="Moves" name="count" type="number" value="1" min={1} max={1_000} required />
    </OperationAction>
  );
}

export function ChangeOwner({ license }: LicenseProps) {
  return (
    <OperationAction
      {...based(license)}
      of={changeLicenseOwner}
      label="Change customer"
      title="Change customer or note"
      explanation="Once you change the customer, payments do not change it. The key is not sent by itself."
      body={({ customer_email: address = '', customer_name: name = '', note = '' }) => ({
        customer_email: emptyToNull(address),
        customer_name: emptyToNull(name),
        note: emptyToNull(note),
      })}
      done="The customer is changed."
    >
      <Field
        label="E-mail address"
        name="customer_email"
        type="email"
        value={license.customer_email ?? ''}
        maxLength={320}
      />
      <Field
        label="Name"
        name="customer_name"
        value={license.customer_name ?? ''}
        maxLength={1_000}
      />
      <Field
        label="Note"
        name="note"
        type="textarea"
        value={license.note ?? ''}
        maxLength={1_000}
        hint="Only operators see it."
      />
    </OperationAction>
  );
}

function emptyToNull(text: string): string | null {
  return text.trim() === '' ? null : text.trim();
}
