import type { EventDays } from '@latchkey/contract';
import {
  breakDownEvent,
  exportEventBreakdown,
  exportEventDays,
  reportEventDays,
} from '@latchkey/contract/admin/events';
import { useMemo } from 'preact/hooks';

import { pathOf, useOperation } from '#console/app/call.ts';
import { withQuery } from '#console/app/query.ts';
import { hrefOf, path, query } from '#console/app/router.ts';
import { Chart } from '#console/ui/chart.tsx';
import { CsvButton, exportOf } from '#console/ui/csv-button.tsx';
import { Filters } from '#console/ui/filters.tsx';
import { Figures } from '#console/ui/figures.tsx';
import { formatDay, formatNumber } from '#console/ui/format.ts';
import { Loaded } from '#console/ui/loaded.tsx';
import { Page, Section } from '#console/ui/page.tsx';
import { readTableState } from '#console/ui/table-state.ts';
import { selectedTab, Tabs } from '#console/ui/tabs.tsx';
import { countFinished } from '#console/ui/unfinished.ts';

import { BreakdownTable } from './breakdown-table.tsx';
import { Change } from './change.tsx';
import { describeLast } from './describe-last.ts';
import { chartTime } from './period.ts';
import { PeriodPicker, usePeriod } from './period-picker.tsx';
import { UpToDate } from './up-to-date.tsx';

const GROUPS = [
  { id: 'property', label: 'Properties' },
  { id: 'version', label: 'Versions' },
] as const;

/** One event over time, and by property and version. */
export function EventPage() {
  const { from, to } = usePeriod();
  const name = query.value.get('name') ?? '';
  const state = readTableState(query.value, ['version']);
  const input = { query: { name, from, to, ...state.filters } };
  const days = useOperation(reportEventDays, input);
  return (
    <Page
      title={name}
      back={{ to: `/events${withQuery(query.value, LEFT_OUT)}`, label: 'Events' }}
      actions={<CsvButton {...exportOf(exportEventDays, input)} label="Export days" />}
    >
      <div class="stack">
        <PeriodPicker />
        <Filters
          filters={[{ name: 'version', label: 'Version', type: 'text' }]}
          ready={[]}
          state={state}
        />
      </div>
      <Loaded resource={days}>{(report) => <Days report={report} name={name} />}</Loaded>
      <Breakdowns name={name} from={from} to={to} />
    </Page>
  );
}

const LEFT_OUT = { name: null, key: null, group: null };

function Days({ report, name }: { readonly report: EventDays; readonly name: string }) {
  const { days } = report;
  const chart = useMemo(() => {
    const openFrom = countFinished(
      days.map(({ day }) => day),
      'day',
    );
    return {
      times: days.map(({ day }) => chartTime(day)),
      series: [
        { label: 'Events', values: days.map(({ events }) => events), openFrom },
        {
          label: 'Period before',
          values: days.map(({ previous_events: events }) => events),
          isBackground: true,
        },
        { label: 'Installs', values: days.map(({ installs }) => installs), openFrom },
      ],
    };
  }, [report]);
  const sum = days.reduce((total, { events }) => total + events, 0);
  const before = days.reduce((total, { previous_events: events }) => total + events, 0);
  const peak = days.reduce((best, each) => (each.events > best.events ? each : best));
  const last = days.at(-1);
  const installs = Math.max(...days.map(({ installs: each }) => each ?? 0));
  return (
    <Section title="By day" intro={<UpToDate at={report.up_to_date_at} unfinished="day" />}>
      <div class="stack">
        <Figures
          items={[
            {
              label: 'Events',
              value: formatNumber(sum),
              note: (
                <>
                  <Change now={sum} before={before} /> since the period before
                </>
              ),
            },
            { label: 'Peak day', value: formatNumber(peak.events), note: formatDay(peak.day) },
            { label: 'Most installs', value: formatNumber(installs), note: 'on one day' },
            ...(last === undefined ? [] : [describeLast(last.day, 'day', last.events)]),
          ]}
        />
        <Chart label={`${name} by day`} {...chart} />
      </div>
    </Section>
  );
}

interface BreakdownsProps {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

function Breakdowns({ name, from, to }: BreakdownsProps) {
  const key = query.value.get('key');
  const group = selectedTab(GROUPS, 'group');
  const grouped = key === null ? { by: group } : { by: 'value' as const, key };
  const input = { query: { name, from, to, ...grouped } };
  const breakdown = useOperation(breakDownEvent, input);
  return (
    <section class="section">
      {key === null ? (
        <Tabs label="Events by" items={GROUPS} name="group" />
      ) : (
        <KeyHeading name={key} />
      )}
      <div class="stack">
        <Loaded key={pathOf(breakDownEvent, input)} resource={breakdown}>
          {(data) => (
            <BreakdownTable
              caption={key === null ? `Events by ${group}` : `Values of ${key}`}
              label={key === null ? (group === 'version' ? 'Version' : 'Property') : 'Value'}
              measure="Events"
              data={data}
              to={to}
              empty={key === null && group === 'property' ? 'It has no properties.' : 'No events.'}
              hasInstalls={group === 'version' && key === null}
              {...(key === null && group === 'property' ? { link: keyPath } : {})}
            />
          )}
        </Loaded>
        <div class="pages">
          <CsvButton
            {...exportOf(exportEventBreakdown, input)}
            label={`Export ${key === null ? (group === 'version' ? 'versions' : 'properties') : 'values'}`}
          />
        </div>
      </div>
    </section>
  );
}

function keyPath(key: string): string {
  return path.value + withQuery(query.value, { key });
}

function KeyHeading({ name }: { readonly name: string }) {
  return (
    <header>
      <div>
        <a class="back" href={hrefOf(path.value + withQuery(query.value, { key: null }))}>
          <span aria-hidden="true">← </span>All properties
        </a>
        <h2>
          Values of <code>{name}</code>
        </h2>
      </div>
    </header>
  );
}
