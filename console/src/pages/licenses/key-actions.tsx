/** The actions on the key of a license. */
import type { AdminLicenseDetails, RekeyedLicense } from '@latchkey/contract';
import { rekeyLicense, resendLicenseKey } from '@latchkey/contract/admin/license-keys';
import { useState } from 'preact/hooks';

import { Dialog } from '#console/ui/dialog.tsx';
import { CopyButton } from '#console/ui/copy-button.tsx';
import { Field } from '#console/ui/field.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';

import { AFFECTED, mailOutcome } from './license-labels.ts';
import { based } from './change-props.tsx';

interface LicenseProps {
  readonly license: AdminLicenseDetails;
}

export function Resend({ license }: LicenseProps) {
  return (
    <OperationAction
      of={resendLicenseKey}
      params={{ id: license.id }}
      reason="required"
      invalidates={AFFECTED}
      label="Send key again"
      title="Send the key again"
      explanation={
        license.customer_email === null
          ? 'The license has no address. Change the customer first.'
          : `${license.customer_email} gets an e-mail with the key.`
      }
      confirm="Send"
      done={({ mail }) => mailOutcome(mail)}
    />
  );
}

export function Rekey({ license }: LicenseProps) {
  const [rekeyed, setRekeyed] = useState<RekeyedLicense | null>(null);
  return (
    <>
      <OperationAction
        {...based(license)}
        of={rekeyLicense}
        label="New key"
        title="Replace the key"
        explanation="The old key is invalid at once, for example because it leaked."
        kind="danger"
        confirm="Replace the key"
        body={({ keep_machines: keep, send_mail: send }) => ({
          keep_machines: keep === 'on',
          send_mail: send === 'on',
        })}
        done={({ mail }) => mailOutcome(mail)}
        onDone={setRekeyed}
      >
        <Field
          label="Keep the active machines"
          name="keep_machines"
          type="checkbox"
          value="on"
          hint="Otherwise each must activate again with the new key."
        />
        <Field
          label="E-mail the new key to the customer"
          name="send_mail"
          type="checkbox"
          value={license.customer_email === null ? '' : 'on'}
        />
      </OperationAction>
      {rekeyed !== null && (
        <Dialog title="The new key" onClose={() => setRekeyed(null)}>
          <p class="secret">
            <code>{rekeyed.license_key}</code>
            <CopyButton text={rekeyed.license_key} label="Copy license key" />
          </p>
          <p>{mailOutcome(rekeyed.mail)}</p>
        </Dialog>
      )}
    </>
  );
}
