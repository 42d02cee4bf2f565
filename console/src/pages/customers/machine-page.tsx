import type { Machine } from '@latchkey/contract';
import { eraseMachine, showMachine } from '@latchkey/contract/admin/machines';

import { pathOf, useOperation } from '#console/app/call.ts';
import { addQuery } from '#console/app/query.ts';
import { hrefOf, query } from '#console/app/router.ts';
import { Badge } from '#console/ui/badge.tsx';
import { Empty } from '#console/ui/empty.tsx';
import { Facts } from '#console/ui/facts.tsx';
import { formatDay } from '#console/ui/format.ts';
import { Loaded } from '#console/ui/loaded.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { Card, Page, Section } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { Status } from '#console/ui/status.tsx';
import { Time } from '#console/ui/time.tsx';

/** A machine with its licenses and its use. */
export function MachinePage() {
  const id = query.value.get('id') ?? '';
  const machine = useOperation(showMachine, id === '' ? null : { query: { id } });
  if (id === '') {
    return (
      <Page title="Machine">
        <Empty title="Which machine?">Press / and search for its id.</Empty>
      </Page>
    );
  }
  return (
    <Page
      title={id}
      back={{ to: '/licenses', label: 'Licenses' }}
      actions={
        <OperationAction
          of={eraseMachine}
          label="Erase use"
          title="Erase the days of use"
          explanation="Deletes the heartbeats of all days. Reports follow within minutes; activations stay with their licenses."
          kind="danger"
          reason="required"
          body={() => ({ id })}
          invalidates={[pathOf(showMachine)]}
          done="The days of use were erased."
        />
      }
    >
      <Loaded resource={machine}>{(data) => <Content machine={data} />}</Loaded>
    </Page>
  );
}

function Content({ machine }: { readonly machine: Machine }) {
  const { activations, days, first_day: firstDay } = machine;
  return (
    <>
      <Card>
        <Facts
          items={[
            ['First used', firstDay === null ? 'no heartbeat' : formatDay(firstDay)],
            ['Last used', <Time key="last" at={days[0]?.last_at ?? null} as="relative" />],
            ['Version', days[0]?.app_version ?? activations[0]?.app_version],
            ['System', days[0]?.os_version ?? activations[0]?.os_version],
          ]}
        />
      </Card>
      <Section title="Licenses">
        <Activations rows={activations} />
      </Section>
      <Section title="Days of use" intro="The last 90 days on which it was used.">
        <Days rows={days} />
      </Section>
    </>
  );
}

function Activations({ rows }: { readonly rows: Machine['activations'] }) {
  return (
    <PlainTable
      caption="Activations"
      rows={rows}
      rowKey={(row) => row.activation_id}
      empty="No license was activated on this machine."
      columns={[
        {
          key: 'license',
          label: 'License',
          grow: true,
          cell: (row) => (
            <a href={hrefOf(`/licenses/${row.license_id}`)}>
              {row.product_id}
              {row.trial && ' trial'}
            </a>
          ),
        },
        {
          key: 'status',
          label: 'License is',
          cell: ({ status }) => <Status of={status} />,
        },
        {
          key: 'active',
          label: 'Machine is',
          cell: (row) => (
            <Badge tone={row.is_active ? 'good' : 'muted'}>
              {row.is_active ? 'active' : 'deactivated'}
            </Badge>
          ),
        },
        {
          key: 'customer',
          label: 'Customer',
          cell: ({ customer_email: email }) =>
            email && <a href={hrefOf(addQuery('/customer', { email }))}>{email}</a>,
        },
        {
          key: 'install',
          label: 'Install',
          hideWhenNarrow: true,
          cell: ({ install_id: install }) =>
            install && <a href={hrefOf(`/installs/${install}`)}>{install.slice(0, 8)}</a>,
        },
        {
          key: 'seen',
          label: 'Last seen',
          cell: (row) => <Time at={row.last_seen_at} as="relative" />,
        },
      ]}
    />
  );
}

function Days({ rows }: { readonly rows: Machine['days'] }) {
  return (
    <PlainTable
      caption="Days of use"
      rows={rows}
      rowKey={({ day }) => day}
      empty="It sent no heartbeat."
      columns={[
        { key: 'day', label: 'Day', grow: true, cell: ({ day }) => formatDay(day) },
        { key: 'beats', label: 'Heartbeats', align: 'end', cell: ({ beats }) => beats },
        { key: 'version', label: 'Version', cell: (row) => row.app_version },
        {
          key: 'system',
          label: 'System',
          hideWhenNarrow: true,
          cell: (row) => row.os_version,
        },
        { key: 'last', label: 'Last', cell: (row) => <Time at={row.last_at} /> },
      ]}
    />
  );
}
