import type { ArchiveLocation, CustomerErased, CustomerErasurePlan } from '@latchkey/contract';
import { eraseCustomer, planCustomerErasure } from '@latchkey/contract/admin/customer-data';
import { useState } from 'preact/hooks';

import { call, pathOf } from '#console/app/call.ts';
import { mayCall } from '#console/app/session.ts';
import { ActionDialog } from '#console/ui/action.tsx';
import { Button } from '#console/ui/button.tsx';
import { Field } from '#console/ui/field.tsx';
import { labelOf } from '#console/ui/labels.ts';

import { ArchivesDialog } from './archives-dialog.tsx';
import { includeShared, listShared, SharedFields } from './shared-devices.tsx';

/** Shows what an erasure would do, then erases. */
export function EraseCustomer({ email }: { readonly email: string }) {
  const [plan, setPlan] = useState<CustomerErasurePlan | null>(null);
  const [archives, setArchives] = useState<readonly ArchiveLocation[]>([]);
  if (!mayCall(planCustomerErasure)) return null;
  async function readPlan(): Promise<void> {
    setPlan(await call(planCustomerErasure, { body: { email } }));
  }
  return (
    <>
      <Button kind="danger" onClick={readPlan}>
        Erase …
      </Button>
      {plan && (
        <ActionDialog<CustomerErased>
          label="Erase"
          title="Erase this customer"
          explanation={<Plan plan={plan} />}
          kind="danger"
          reason="required"
          path={pathOf(eraseCustomer)}
          body={(values) => ({
            email,
            revoke: values['revoke'] === 'on',
            ...includeShared(values, listShared(plan)),
          })}
          invalidates={['/api/v1/admin']}
          done="The customer was erased."
          onDone={(erased) => setArchives(erased.archives)}
          onClose={() => setPlan(null)}
        >
          <Field
            label="Revoke the licenses too"
            name="revoke"
            type="checkbox"
            hint="Otherwise they stay valid without a customer."
          />
          <SharedFields devices={listShared(plan)} />
        </ActionDialog>
      )}
      <ArchivesDialog archives={archives} onClose={() => setArchives([])} />
    </>
  );
}

function Plan({ plan }: { readonly plan: CustomerErasurePlan }) {
  const { tables, unapplied_events: unapplied } = plan;
  return (
    <>
      Erase the customer at the payment provider first: data that it sends later is stored again.
      {unapplied > 0 &&
        ` ${unapplied} payment events were not applied and keep their bodies: replay or dismiss them first.`}
      <span class="plan">
        {tables.length === 0
          ? 'No data is stored. The address is suppressed, so that it gets no mail.'
          : tables.map(({ outcome, rows, table }) => (
              <span key={table}>
                <b>{labelOf(table)}</b> ({rows}): {outcome}
              </span>
            ))}
      </span>
    </>
  );
}
