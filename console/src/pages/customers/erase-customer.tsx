import type { ArchiveLocation, CustomerErased, CustomerErasurePlan } from '@latchkey/contract';
import { useState } from 'preact/hooks';

import { apiPost } from '#console/app/api.ts';
import { hasRole } from '#console/app/session.ts';
import { ActionDialog } from '#console/ui/action.tsx';
import { Button } from '#console/ui/button.tsx';
import { Field } from '#console/ui/field.tsx';
import { labelOf } from '#console/ui/labels.ts';

import { ArchivesDialog } from './archives-dialog.tsx';
import { includeShared, listShared, SharedFields } from './shared-devices.tsx';

const PATH = '/api/v1/admin/customer';

/** Shows what an erasure would do, then erases. */
export function EraseCustomer({ email }: { readonly email: string }) {
  const [plan, setPlan] = useState<CustomerErasurePlan | null>(null);
  const [archives, setArchives] = useState<readonly ArchiveLocation[]>([]);
  if (!hasRole('admin')) return null;
  async function readPlan(): Promise<void> {
    setPlan(await apiPost<CustomerErasurePlan>(`${PATH}/plan-erasure`, { email }));
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
          role="admin"
          reason="required"
          path={`${PATH}/erase`}
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
