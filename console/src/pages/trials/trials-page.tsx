import type { AdminTrial } from '@latchkey/contract';
import { trials } from '@latchkey/contract/admin/trials';

import { useProductOptions } from '#console/app/products.ts';
import { hrefOf } from '#console/app/router.ts';
import { Badge, type Tone } from '#console/ui/badge.tsx';
import type { Column } from '#console/ui/data-table.tsx';
import { ListTable } from '#console/ui/list-table.tsx';
import { Page } from '#console/ui/page.tsx';
import { selectedTab, Tabs } from '#console/ui/tabs.tsx';
import { Time } from '#console/ui/time.tsx';

import { ConversionReport } from './conversion-report.tsx';

const TABS = [
  { id: 'list', label: 'Trials' },
  { id: 'conversion', label: 'Conversion' },
];

/** Trials by their state, and how many led to a license. */
export function TrialsPage() {
  return (
    <Page title="Trials" intro="Each machine gets one trial of seven days.">
      <Tabs label="Views of trials" items={TABS} />
      {selectedTab(TABS) === 'list' ? <TrialList /> : <ConversionReport />}
    </Page>
  );
}

const TONES: Readonly<Record<AdminTrial['state'], Tone>> = {
  running: 'info',
  converted: 'good',
  ended: 'muted',
};

const COLUMNS: readonly Column<AdminTrial>[] = [
  {
    key: 'machine',
    label: 'Machine',
    grow: true,
    cell: ({ machine_id: id, key_hint: hint }) => id ?? `…${hint}`,
  },
  {
    key: 'state',
    label: 'State',
    cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge>,
  },
  {
    key: 'created_at',
    label: 'Started',
    sort: 'descending',
    cell: (each) => <Time at={each.created_at} as="date" />,
  },
  {
    key: 'expires_at',
    label: 'Ends',
    sort: 'ascending',
    cell: (each) => <Time at={each.expires_at} as="relative" />,
  },
  {
    key: 'last_seen_at',
    label: 'Last seen',
    hideWhenNarrow: true,
    cell: (each) => <Time at={each.last_seen_at} as="relative" />,
  },
  {
    key: 'app_version',
    label: 'Version',
    hideWhenNarrow: true,
    cell: (each) => each.app_version ?? '–',
  },
  {
    key: 'conversion',
    label: 'Led to',
    cell: ({ conversion }) =>
      conversion && (
        <a href={hrefOf(`/licenses/${conversion.license_id}`)}>{conversion.product_id}</a>
      ),
  },
];

function TrialList() {
  return (
    <ListTable
      of={trials}
      search="Machine, or the end of a key"
      rowKey={({ id }) => id}
      rowLink={({ id }) => `/licenses/${id}`}
      columns={COLUMNS}
      filters={[{ name: 'product', label: 'Product', options: useProductOptions() }]}
      ready={[
        { label: 'Running', query: { state: 'running' } },
        { label: 'Ended', query: { state: 'ended' } },
        { label: 'Converted', query: { state: 'converted' } },
      ]}
      empty={{
        title: 'No trials yet',
        text: 'The application starts one at its first launch on a machine.',
      }}
    />
  );
}
