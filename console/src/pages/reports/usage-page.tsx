import type { UsageReport } from '@latchkey/contract';
import {
  breakDownUsage,
  exportUsage,
  exportUsageBreakdown,
  reportUsage,
} from '@latchkey/contract/admin/usage';
import { useMemo } from 'preact/hooks';

import { useOperation } from '#console/app/call.ts';
import { changeQuery, query } from '#console/app/router.ts';
import { Chart } from '#console/ui/chart.tsx';
import { CsvButton, exportOf } from '#console/ui/csv-button.tsx';
import { Empty } from '#console/ui/empty.tsx';
import { Loaded } from '#console/ui/loaded.tsx';
import { Page, Section } from '#console/ui/page.tsx';
import { selectedTab, Tabs } from '#console/ui/tabs.tsx';
import { countFinished } from '#console/ui/unfinished.ts';

import { BreakdownTable } from './breakdown-table.tsx';
import { chartTime } from './period.ts';
import { PeriodPicker, usePeriod } from './period-picker.tsx';
import { RetentionTable } from './retention-table.tsx';
import { UpToDate } from './up-to-date.tsx';
import { MachineFigures } from './machine-figures.tsx';

const PERIODS = [
  { id: 'day', label: 'By day' },
  { id: 'week', label: 'By week' },
  { id: 'month', label: 'By month' },
] as const;

const GROUPS = [
  { id: 'version', label: 'Versions' },
  { id: 'platform', label: 'Platforms' },
  { id: 'system', label: 'Systems' },
  { id: 'retention', label: 'Retention' },
] as const;

/** Active machines over time, and by version and platform. */
export function UsagePage() {
  const { from, to } = usePeriod();
  const by = selectedTab(PERIODS, 'by');
  const input = { query: { from, to, by } };
  const usage = useOperation(reportUsage, input);
  return (
    <Page
      title="Usage"
      intro="Machines whose application sent a heartbeat. Each counts once in a day, week or month."
      actions={<CsvButton {...exportOf(exportUsage, input)} label={`Export ${by}s`} />}
    >
      <PeriodPicker />
      <Loaded resource={usage}>{(report) => <ActiveMachines report={report} />}</Loaded>
      <Breakdowns from={from} to={to} />
    </Page>
  );
}

function ActiveMachines({ report }: { readonly report: UsageReport }) {
  const { by, periods } = report;
  const chart = useMemo(
    () => ({
      times: periods.map(({ starts }) => chartTime(starts)),
      series: [
        {
          label: `Machines each ${by}`,
          values: periods.map(({ machines }) => machines),
          openFrom: countFinished(
            periods.map(({ starts }) => starts),
            by,
          ),
        },
        {
          label: 'Period before',
          values: periods.map(({ previous_machines: before }) => before),
          isBackground: true,
        },
      ],
    }),
    [report],
  );
  const isUnused = periods.every((each) => each.machines + each.previous_machines === 0);
  if (isUnused) return <NoUse />;
  return (
    <Section
      title="Active machines"
      intro={<UpToDate at={report.up_to_date_at} unfinished={by} />}
      actions={<PeriodChoice />}
    >
      <div class="stack">
        <MachineFigures report={report} />
        <Chart label={`Active machines by ${by}`} {...chart} />
      </div>
    </Section>
  );
}

function PeriodChoice() {
  const by = selectedTab(PERIODS, 'by');
  return (
    <div class="ready" role="group" aria-label="Count machines">
      {PERIODS.map(({ id, label }) => (
        <button
          key={id}
          type="button"
          aria-pressed={id === by}
          onClick={() => changeQuery({ by: id === 'day' ? null : id })}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

interface BreakdownsProps {
  readonly from: string;
  readonly to: string;
}

function Breakdowns({ from, to }: BreakdownsProps) {
  const group = selectedTab(GROUPS, 'group');
  return (
    <section class="section">
      <Tabs label="Machines by" items={GROUPS} name="group" />
      {group === 'retention' ? (
        <RetentionTable />
      ) : (
        <UsageBreakdown key={group} by={group} from={from} to={to} />
      )}
    </section>
  );
}

type Group = Exclude<(typeof GROUPS)[number]['id'], 'retention'>;

function UsageBreakdown({ by, from, to }: BreakdownsProps & { readonly by: Group }) {
  const input = { query: { by, from, to } };
  const breakdown = useOperation(breakDownUsage, input);
  const label = GROUPS.find(({ id }) => id === by)?.label.replace(/s$/, '') ?? '';
  return (
    <div class="stack">
      <Loaded resource={breakdown}>
        {(data) => (
          <BreakdownTable
            caption={`Machine days by ${by}`}
            label={label}
            measure="Machine days"
            data={data}
            to={to}
            empty="No use in these days."
          />
        )}
      </Loaded>
      <div class="pages">
        <CsvButton
          {...exportOf(exportUsageBreakdown, input)}
          label={`Export ${label.toLowerCase()}s`}
        />
      </div>
    </div>
  );
}

function NoUse() {
  const chosen = query.value.has('from') || query.value.has('days');
  return (
    <Empty title={chosen ? 'No use in these days' : 'No use yet'}>
      Your application reports a machine with{' '}
      <a href="/docs">
        <code>POST /api/v1/usage/heartbeat</code>
      </a>
      , once a day. Its numbers appear here within five minutes.
    </Empty>
  );
}
