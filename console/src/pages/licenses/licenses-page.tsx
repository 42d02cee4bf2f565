import type { AdminLicense } from '@latchkey/contract';
import { issueLicense } from '@latchkey/contract/admin/license-issue';
import {
  exportActivations,
  exportLicensesWithKeys,
  licenses,
} from '@latchkey/contract/admin/licenses';

import { useProductOptions } from '#console/app/products.ts';
import { mayCall } from '#console/app/session.ts';
import { Badge } from '#console/ui/badge.tsx';
import { LinkButton } from '#console/ui/button.tsx';
import { exportOf } from '#console/ui/csv-button.tsx';
import type { Column } from '#console/ui/data-table.tsx';
import type { ReadyFilter } from '#console/ui/filters.tsx';
import { ListTable } from '#console/ui/list-table.tsx';
import { Page } from '#console/ui/page.tsx';
import { Status } from '#console/ui/status.tsx';
import { Time } from '#console/ui/time.tsx';

import { nameOf, REFUSAL_OPTIONS, STATUS_OPTIONS } from './license-labels.ts';

const READY: readonly ReadyFilter[] = [
  { label: 'Refused this week', query: { refused: 'any' } },
  { label: 'Limit reached', query: { machines: 'limit_reached' } },
  { label: 'Past due', query: { status: 'past_due' } },
  { label: 'Expiring in 30 days', query: { expiring_days: '30' } },
  { label: 'Never activated', query: { machines: 'never_activated' } },
  { label: 'Silent for 90 days', query: { machines: 'silent' } },
];

const COLUMNS: readonly Column<AdminLicense>[] = [
  { key: 'customer', label: 'Customer', grow: true, cell: (each) => <Customer license={each} /> },
  { key: 'product', label: 'Product', cell: (each) => <ProductCell license={each} /> },
  {
    key: 'status',
    label: 'Status',
    cell: ({ status }) => <Status of={status} />,
  },
  { key: 'machines', label: 'Machines', align: 'end', cell: (each) => <Machines license={each} /> },
  {
    key: 'last_seen',
    label: 'Last seen',
    hideWhenNarrow: true,
    cell: (each) => <Time at={each.last_seen_at} as="relative" />,
  },
  {
    key: 'expires_at',
    label: 'Ends',
    sort: 'ascending',
    cell: (each) => <Time at={each.expires_at} as="date" />,
  },
  {
    key: 'created_at',
    label: 'Created',
    sort: 'descending',
    hideWhenNarrow: true,
    cell: (each) => <Time at={each.created_at} as="date" />,
  },
];

/** All licenses, with ready filters for those that need attention. */
export function LicensesPage() {
  return (
    <Page
      title="Licenses"
      actions={
        mayCall(issueLicense) && (
          <>
            <LinkButton to="/licenses/import">Import</LinkButton>
            <LinkButton to="/licenses/issue" kind="primary">
              Issue a license
            </LinkButton>
          </>
        )
      }
    >
      <ListTable
        of={licenses}
        search="Key, e-mail, name or transaction"
        rowKey={({ id }) => id}
        rowLink={({ id }) => `/licenses/${id}`}
        columns={COLUMNS}
        ready={READY}
        filters={[
          { name: 'status', label: 'Status', options: STATUS_OPTIONS },
          { name: 'product', label: 'Product', options: useProductOptions() },
          { name: 'refused', label: 'Refused', options: REFUSED },
          { name: 'trial', label: 'Kind', options: KINDS },
          { name: 'test', label: 'Purchase', options: PURCHASES },
          { name: 'expires_before', label: 'Ends before', type: 'date' },
        ]}
        exports={EXPORTS}
        empty={{
          title: 'No licenses yet',
          text: 'They appear with the first sale or trial. You can also issue or import some.',
        }}
      />
    </Page>
  );
}

const EXPORTS = [
  { ...exportOf(exportLicensesWithKeys, { query: {} }), label: 'Export with keys' },
  { ...exportOf(exportActivations, { query: {} }), label: 'Export activations' },
];

const REFUSED = [{ value: 'any', label: 'Any reason' }, ...REFUSAL_OPTIONS];

const KINDS = [
  { value: 'false', label: 'Licenses' },
  { value: 'true', label: 'Trials' },
];

const PURCHASES = [
  { value: 'false', label: 'Real' },
  { value: 'true', label: 'Test' },
];

function Customer({ license }: { readonly license: AdminLicense }) {
  const { customer_name: name, customer_email: address } = license;
  return (
    <span>
      {nameOf(license)}
      {name !== null && address !== null && <span class="dim second-line">{address}</span>}
    </span>
  );
}

function ProductCell({ license }: { readonly license: AdminLicense }) {
  return (
    <span class="whole">
      {license.product_name} {license.trial && <Badge tone="info">Trial</Badge>}
    </span>
  );
}

function Machines({ license }: { readonly license: AdminLicense }) {
  const { active_machines: active, max_activations: max, refusals_this_week: refused } = license;
  return (
    <span>
      {refused > 0 && (
        <>
          <Badge tone="bad">{refused} refused</Badge>{' '}
        </>
      )}
      {active} of {max}
    </span>
  );
}
