import type { PaymentEventItem } from '@latchkey/contract';
import { paymentEvents, summarizePayments } from '@latchkey/contract/admin/payments';

import { useOperation } from '#console/app/call.ts';
import { hrefOf, query } from '#console/app/router.ts';
import { Badge } from '#console/ui/badge.tsx';
import type { Column } from '#console/ui/data-table.tsx';
import { Notice } from '#console/ui/error-box.tsx';
import { ListTable } from '#console/ui/list-table.tsx';
import { Page } from '#console/ui/page.tsx';
import { Time } from '#console/ui/time.tsx';
import { nameProvider, PROVIDER_OPTIONS } from '#console/ui/labels.ts';

import { DismissAll, ReplayAll } from './change-all.tsx';
import { STATE_OPTIONS, labelOfState, pageOf, toneOfState } from './payment-labels.ts';
import { Providers } from './providers.tsx';
import { Reconcile } from './reconcile.tsx';

const COLUMNS: readonly Column<PaymentEventItem>[] = [
  { key: 'type', label: 'Event', cell: (each) => each.type },
  {
    key: 'state',
    label: 'State',
    cell: ({ state }) => <Badge tone={toneOfState(state)}>{labelOfState(state)}</Badge>,
  },
  { key: 'message', label: 'Why', grow: true, hideWhenNarrow: true, cell: Why },
  { key: 'provider', label: 'Provider', cell: (each) => nameProvider(each.provider) },
  {
    key: 'received_at',
    label: 'Received',
    sort: 'descending',
    cell: (each) => <Time at={each.received_at} />,
  },
];

/** The events that payment providers sent, and their results. */
export function PaymentsPage() {
  const { data: summary } = useOperation(summarizePayments, {}, { polls: true });
  const licenseId = query.value.get('license_id');
  return (
    <Page
      title="Payments"
      intro="Every event that a payment provider sent, and what it did."
      actions={summary?.reconciliation.configured === true && <Reconcile />}
    >
      <OfLicense />
      <ListTable
        of={paymentEvents}
        search="Event, transaction, subscription, customer or e-mail"
        {...(licenseId === null ? {} : { fixed: { license_id: licenseId } })}
        rowKey={({ provider, event_id: id }) => `${provider}/${id}`}
        rowLink={pageOf}
        polls
        columns={COLUMNS}
        filters={[
          { name: 'state', label: 'State', options: STATE_OPTIONS },
          { name: 'provider', label: 'Provider', options: PROVIDER_OPTIONS },
          {
            name: 'type',
            label: 'Type',
            options: (summary?.types ?? []).map((value) => ({ value, label: value })),
          },
          { name: 'since', label: 'From', type: 'date' },
          { name: 'until', label: 'Before', type: 'date' },
        ]}
        ready={[
          { label: withCount('Failed', summary?.failed), query: { state: 'failed' } },
          { label: withCount('Retrying', summary?.deferred), query: { state: 'deferred' } },
          {
            label: withCount('Paid without license', summary?.unmatched),
            query: { state: 'unmatched' },
          },
          { label: 'Dismissed', query: { state: 'dismissed' } },
        ]}
        actions={
          <>
            <ReplayAll />
            <DismissAll />
          </>
        }
        empty={{
          title: 'No payment event yet',
          text: 'Connect the webhook of a payment provider; events appear with the first sale.',
        }}
      />
      {summary && <Providers summary={summary} />}
    </Page>
  );
}

/** A reason can be long. */
const MAX_SHOWN = 120;

function Why({ message }: PaymentEventItem) {
  if (message === null) return <span class="dim">–</span>;
  const shown = message.length > MAX_SHOWN ? `${message.slice(0, MAX_SHOWN)}…` : message;
  return <span dir="auto">{shown}</span>;
}

function withCount(label: string, count = 0): string {
  return count === 0 ? label : `${label} (${count})`;
}

/** Says that the list shows one license only, to which a link of that license led. */
function OfLicense() {
  const licenseId = query.value.get('license_id');
  if (licenseId === null) return null;
  return (
    <Notice>
      Only events of the purchase of{' '}
      <a href={hrefOf(`/licenses/${encodeURIComponent(licenseId)}`)}>this license</a>.{' '}
      <a href={hrefOf('/payments')}>Show all</a>
    </Notice>
  );
}
