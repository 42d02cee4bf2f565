import type { AdminSuppression } from '@latchkey/contract';
import {
  addSuppression,
  removeSuppression,
  suppressions,
} from '@latchkey/contract/admin/subscribers';

import { hrefOf } from '#console/app/router.ts';
import { Badge } from '#console/ui/badge.tsx';
import { Field } from '#console/ui/field.tsx';
import { ListTable } from '#console/ui/list-table.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { Page } from '#console/ui/page.tsx';
import { Time } from '#console/ui/time.tsx';
import { namedOptions } from '#console/ui/labels.ts';

import { CHANGED } from './subscriber-actions.tsx';
import { daysAgo, REASONS } from './subscriber-labels.ts';

/** Addresses that get no newsletter and no outreach. */
export function SuppressionsPage() {
  return (
    <Page
      title="Suppressed addresses"
      intro="They get no newsletter and no outreach. Only a keyed hash of each address is stored, so search by the complete address."
      actions={<AddSuppression />}
    >
      <ListTable
        of={suppressions}
        search="Complete address, or the start of a hash"
        rowKey={(each) => each.address_hash}
        columns={[
          { key: 'address', label: 'Address', grow: true, cell: (each) => <Address of={each} /> },
          {
            key: 'reason',
            label: 'Reason',
            cell: ({ reason }) => (
              <Badge tone={reason === 'bounced' || reason === 'complained' ? 'bad' : 'muted'}>
                {REASONS[reason]}
              </Badge>
            ),
          },
          {
            key: 'suppressed_at',
            label: 'Since',
            sort: 'descending',
            cell: (each) => <Time at={each.suppressed_at} as="date" />,
          },
          {
            key: 'actions',
            label: '',
            align: 'end',
            cell: (each) => <AllowMail suppression={each} />,
          },
        ]}
        filters={[
          {
            name: 'reason',
            label: 'Reason',
            options: namedOptions(REASONS),
          },
        ]}
        ready={[
          { label: 'Unsubscribed in 7 days', query: { reason: 'unsubscribed', since: daysAgo(7) } },
          { label: 'By an operator', query: { reason: 'by_hand' } },
        ]}
        empty={{
          title: 'No suppressed addresses',
          text: 'An address appears here when its owner unsubscribes, or when you add it.',
        }}
      />
    </Page>
  );
}

const SHOWN_DIGITS = 16;

function Address({
  of: { email, subscriber_id: id, address_hash: hash },
}: {
  readonly of: AdminSuppression;
}) {
  if (id !== null) return <a href={hrefOf(`/subscribers/${id}`)}>{email ?? 'Erased address'}</a>;
  return (
    <code class="dim" title={hash}>
      {hash.slice(0, SHOWN_DIGITS)}…
    </code>
  );
}

function AllowMail({ suppression }: { readonly suppression: AdminSuppression }) {
  return (
    <OperationAction
      of={removeSuppression}
      label="Allow mail"
      title="Allow mail to this address again"
      explanation="Only at the request of the owner of the address."
      kind="quiet"
      reason="required"
      body={() => ({ address_hash: suppression.address_hash })}
      invalidates={CHANGED}
      done="The address gets mail again."
    />
  );
}

function AddSuppression() {
  return (
    <OperationAction
      of={addSuppression}
      label="Suppress an address"
      explanation="It gets no newsletter and no outreach any more. E-mails with license keys still arrive."
      confirm="Suppress"
      kind="primary"
      reason="required"
      invalidates={CHANGED}
      done="The address is suppressed."
    >
      <Field label="Address" name="email" type="email" required autoFocus />
    </OperationAction>
  );
}
