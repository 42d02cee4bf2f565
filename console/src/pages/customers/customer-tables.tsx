import type { Customer } from '@latchkey/contract';

import { addQuery } from '#console/app/query.ts';
import { hrefOf } from '#console/app/router.ts';
import { Badge } from '#console/ui/badge.tsx';
import { formatMoney } from '#console/ui/format.ts';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { Status } from '#console/ui/status.tsx';
import { Time } from '#console/ui/time.tsx';
import { nameProvider } from '#console/ui/labels.ts';

import { nameMail } from '../mail/mail-labels.ts';

type Rows<Name extends keyof Customer> = { readonly rows: Customer[Name] };

export function Licenses({ rows }: Rows<'licenses'>) {
  return (
    <PlainTable
      caption="Licenses"
      rows={rows}
      rowKey={({ id }) => id}
      empty="No license has this address."
      columns={[
        {
          key: 'license',
          label: 'License',
          grow: true,
          cell: ({ id, key_hint: hint, product_id: product }) => (
            <a href={hrefOf(`/licenses/${id}`)}>
              {product} …{hint}
            </a>
          ),
        },
        { key: 'status', label: 'Status', cell: ({ status }) => <Status of={status} /> },
        {
          key: 'machines',
          label: 'Machines',
          cell: (each) => `${each.active_machines} of ${each.max_activations}`,
        },
        {
          key: 'created',
          label: 'Created',
          cell: (each) => <Time at={each.created_at} as="date" />,
        },
        {
          key: 'expires',
          label: 'Ends',
          cell: (each) => <Time at={each.expires_at} as="date" never="never" />,
        },
      ]}
    />
  );
}

export function Machines({ rows }: Rows<'machines'>) {
  return (
    <PlainTable
      caption="Machines"
      rows={rows}
      rowKey={(row) => `${row.license_id} ${row.machine_id} ${row.last_seen_at}`}
      columns={[
        {
          key: 'machine',
          label: 'Machine',
          grow: true,
          cell: ({ machine_id: id }) =>
            id && <a href={hrefOf(addQuery('/machine', { id }))}>{id}</a>,
        },
        {
          key: 'state',
          label: 'State',
          cell: ({ is_active: isActive }) => (
            <Badge tone={isActive ? 'good' : 'muted'}>{isActive ? 'active' : 'deactivated'}</Badge>
          ),
        },
        {
          key: 'install',
          label: 'Install',
          hideWhenNarrow: true,
          cell: ({ install_id: id }) =>
            id && <a href={hrefOf(`/installs/${id}`)}>{id.slice(0, 8)}</a>,
        },
        {
          key: 'seen',
          label: 'Last seen',
          cell: (each) => <Time at={each.last_seen_at} as="relative" />,
        },
      ]}
    />
  );
}

export function Subscriptions({ rows }: Rows<'subscriptions'>) {
  return (
    <PlainTable
      caption="Subscriptions"
      rows={rows}
      rowKey={(row) => `${row.provider} ${row.subscription_id}`}
      columns={[
        {
          key: 'id',
          label: 'Subscription',
          grow: true,
          cell: ({ subscription_id: search }) => (
            <a href={hrefOf(addQuery('/payments', { search }))}>{search}</a>
          ),
        },
        { key: 'status', label: 'Status', cell: ({ status }) => <Status of={status} /> },
        { key: 'provider', label: 'Provider', cell: (row) => nameProvider(row.provider) },
        { key: 'at', label: 'Newest event', cell: (each) => <Time at={each.occurred_at} /> },
      ]}
    />
  );
}

export function Payments({ rows }: Rows<'payments'>) {
  return (
    <PlainTable
      caption="Payments"
      rows={rows}
      rowKey={(row) => `${row.provider} ${row.transaction_id}`}
      empty="No payment belongs to this address."
      columns={[
        {
          key: 'id',
          label: 'Transaction',
          grow: true,
          cell: ({ transaction_id: search }) => (
            <a href={hrefOf(addQuery('/payments', { search }))}>{search}</a>
          ),
        },
        { key: 'origin', label: 'For', cell: ({ origin }) => origin },
        {
          key: 'total',
          label: 'Total',
          align: 'end',
          cell: ({ total, currency, provider }) => {
            if (total === null) return '–';
            return currency === null
              ? (total / 100).toFixed(2)
              : formatMoney(total, currency, provider);
          },
        },
        {
          key: 'provider',
          label: 'Provider',
          hideWhenNarrow: true,
          cell: (row) => nameProvider(row.provider),
        },
        { key: 'at', label: 'When', cell: (each) => <Time at={each.occurred_at} /> },
      ]}
    />
  );
}

const KINDS = { keys: 'License keys', outreach: 'Outreach' };

export function Mails({ rows }: Rows<'mails'>) {
  return (
    <PlainTable
      caption="E-mails"
      rows={rows}
      rowKey={(row) => `${row.kind} ${row.id} ${row.at}`}
      empty="No e-mail was sent to this address."
      columns={[
        {
          key: 'what',
          label: 'What',
          grow: true,
          cell: ({ id, kind }) =>
            kind === 'owner' ? (
              nameMail({ kind, template: id })
            ) : (
              <>
                {KINDS[kind]} <span class="dim">{id}</span>
              </>
            ),
        },
        {
          key: 'state',
          label: 'State',
          cell: ({ reason, state }) => (
            <>
              <Status of={state} /> {reason && <span class="dim">{reason}</span>}
            </>
          ),
        },
        { key: 'at', label: 'When', cell: ({ at }) => <Time at={at} /> },
      ]}
    />
  );
}
