import type { Breakdown } from '@latchkey/contract';
import {
  exportEventDrops,
  exportEvents,
  reportEventDrops,
  reportEvents,
} from '@latchkey/contract/admin/events';
import { useState } from 'preact/hooks';

import { useOperation } from '#console/app/call.ts';
import { navigate, query } from '#console/app/router.ts';
import { Button } from '#console/ui/button.tsx';
import { CsvButton, exportOf } from '#console/ui/csv-button.tsx';
import { Empty } from '#console/ui/empty.tsx';
import { Filters } from '#console/ui/filters.tsx';
import { formatDay, formatNumber } from '#console/ui/format.ts';
import { Loaded } from '#console/ui/loaded.tsx';
import { Page, Section } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { readTableState } from '#console/ui/table-state.ts';
import { labelOf } from '#console/ui/labels.ts';

import { BreakdownTable } from './breakdown-table.tsx';
import { Change } from './change.tsx';
import { eventPath } from './event-path.ts';
import { PeriodPicker, usePeriod } from './period-picker.tsx';
import { UpToDate } from './up-to-date.tsx';

/** Events by name, and those that were not stored. */
export function EventsPage() {
  const { from, to } = usePeriod();
  const state = readTableState(query.value, ['search', 'version']);
  const input = { query: { from, to, ...state.filters } };
  const events = useOperation(reportEvents, input);
  return (
    <Page
      title="Events"
      intro="What your application reports about its use. Choose an event for its properties."
    >
      <div class="stack">
        <PeriodPicker />
        <Filters
          search="Name of an event"
          filters={[{ name: 'version', label: 'Version', type: 'text' }]}
          ready={[]}
          state={state}
        >
          <CsvButton {...exportOf(exportEvents, input)} />
        </Filters>
        <Loaded resource={events}>
          {(data) => (
            <EventNames data={data} to={to} isFiltered={Object.keys(state.filters).length > 0} />
          )}
        </Loaded>
      </div>
      <Lookup />
      <Drops from={from} to={to} />
    </Page>
  );
}

interface EventNamesProps {
  readonly data: Breakdown;
  readonly to: string;
  readonly isFiltered: boolean;
}

function EventNames({ data, to, isFiltered }: EventNamesProps) {
  if (data.items.length === 0) return isFiltered ? <NoMatch /> : <NoEvents />;
  return (
    <div class="stack">
      <p>
        {formatNumber(data.count)} events, <Change now={data.count} before={data.previous_count} />{' '}
        since the period before.
      </p>
      <BreakdownTable
        caption="Events by name"
        label="Event"
        measure="Events"
        data={data}
        to={to}
        empty=""
        link={(name) => eventPath(name, query.value)}
        hasInstalls
      />
      <UpToDate at={data.up_to_date_at} />
    </div>
  );
}

function NoMatch() {
  return <Empty title="No event matches">Change the search, the version or the days.</Empty>;
}

function NoEvents() {
  return (
    <Empty title="No events in these days">
      <p>
        Your application sends them in batches with <a href="/docs">POST /api/v1/events</a>:
      </p>
      <pre class="json">{EXAMPLE}</pre>
      <p>The counts appear here within five minutes.</p>
    </Empty>
  );
}

const EXAMPLE = `{
  "install_id": "3f2b8c1e-7c1e-4d32-9c41-3f5f0a1b2c3d",
  "session_id": "3f2b8c1e-7c1e-4d32-9c41-3f5f0a1b2c3e",
  "app_version": "2.4.0",
  "events": [{
    "event_id": "0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d",
    "name": "export_finished",
    "occurred_at": "2026-11-22T10:00:00Z",
    "props": { "format": "pdf" }
  }]
}`;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Opens one event, or the newest events of one install. */
function Lookup() {
  const [id, setId] = useState('');
  const isId = UUID.test(id.trim());
  const open = (path: '/events/stored' | '/installs') => navigate(`${path}/${id.trim()}`);
  return (
    <Section title="Find single events">
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          open('/events/stored');
        }}
      >
        <input
          class="search"
          aria-label="Id of an event or of an install"
          placeholder="Id of an event or of an install"
          maxLength={40}
          spellcheck={false}
          onInput={({ currentTarget }) => setId(currentTarget.value)}
        />
        <Button type="submit" disabled={!isId}>
          Show event
        </Button>
        <Button disabled={!isId} onClick={() => open('/installs')}>
          Events of install
        </Button>
      </form>
    </Section>
  );
}

interface DropsProps {
  readonly from: string;
  readonly to: string;
}

function Drops({ from, to }: DropsProps) {
  const input = { query: { from, to } };
  const drops = useOperation(reportEventDrops, input);
  if (drops.data?.items.length === 0) return null;
  return (
    <Section title="Not stored" intro="Events that were received and left out, by reason.">
      <Loaded resource={drops}>
        {({ items }) => (
          <PlainTable
            caption="Events that were not stored"
            rows={items}
            rowKey={({ reason }) => reason}
            columns={[
              {
                key: 'reason',
                label: 'Reason',
                grow: true,
                cell: ({ reason }) => labelOf(reason),
              },
              {
                key: 'events',
                label: 'Events',
                align: 'end',
                cell: ({ events }) => formatNumber(events),
              },
              {
                key: 'change',
                label: 'Change',
                align: 'end',
                cell: (item) => <Change now={item.events} before={item.previous_events} />,
              },
              {
                key: 'last',
                label: 'Last day',
                cell: ({ last_day: day }) => (day === null ? '–' : formatDay(day)),
              },
            ]}
          />
        )}
      </Loaded>
      <div class="pages">
        <CsvButton {...exportOf(exportEventDrops, input)} label="Export reasons" />
      </div>
    </Section>
  );
}
