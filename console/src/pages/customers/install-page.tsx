import type { ArchiveLocation, Install, StoredEvent } from '@latchkey/contract';
import {
  eraseInstall,
  exportInstall,
  exportInstallEvents,
  listInstallEvents,
  showInstall,
} from '@latchkey/contract/admin/installs';
import { useState } from 'preact/hooks';

import { pathOf, useOperation } from '#console/app/call.ts';
import { addQuery } from '#console/app/query.ts';
import { hrefOf } from '#console/app/router.ts';
import { saveJson } from '#console/app/save-file.ts';
import type { RouteProps } from '#console/app/match-path.ts';
import { Badge } from '#console/ui/badge.tsx';
import { Button } from '#console/ui/button.tsx';
import { CsvButton, exportOf } from '#console/ui/csv-button.tsx';
import { Empty } from '#console/ui/empty.tsx';
import { Loaded } from '#console/ui/loaded.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { Page, Section } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { Time } from '#console/ui/time.tsx';
import { Json, Timeline } from '#console/ui/timeline.tsx';

import { ArchivesDialog } from './archives-dialog.tsx';

/** An installation of the application, and its events. */
export function InstallPage({ params: { id = '' } }: RouteProps) {
  const params = { id };
  const install = useOperation(showInstall, { params });
  const [archives, setArchives] = useState<readonly ArchiveLocation[]>([]);
  return (
    <Page
      title={`Install ${id.slice(0, 8)}`}
      intro={<code>{id}</code>}
      status={
        install.data && (
          <Badge tone={install.data.usage_sharing ? 'good' : 'muted'}>
            {install.data.usage_sharing ? 'shares usage' : 'shares nothing'}
          </Badge>
        )
      }
      actions={
        <>
          <OperationAction
            of={exportInstall}
            params={params}
            label="Export data"
            explanation="A file with its activations and all its events."
            reason="required"
            invalidates={[]}
            done="The export is ready."
            onDone={(data) => saveJson('install.json', data)}
          />
          <OperationAction
            of={eraseInstall}
            params={params}
            label="Erase events"
            explanation="Deletes all events of this install for good. Reports follow within minutes; activations stay with their licenses."
            kind="danger"
            reason="required"
            invalidates={[pathOf(showInstall, { params })]}
            done="The events were erased."
            onDone={(erased) => setArchives(erased.archives)}
          />
          <ArchivesDialog archives={archives} onClose={() => setArchives([])} />
        </>
      }
    >
      <Loaded resource={install}>
        {({ activations }) => (
          <Section title="Machines">
            <Activations rows={activations} />
          </Section>
        )}
      </Loaded>
      <Section
        title="Events"
        intro="Newest first, by the time of their arrival."
        actions={<CsvButton {...exportOf(exportInstallEvents, { params })} />}
      >
        <EventPages installId={id} />
      </Section>
    </Page>
  );
}

function Activations({ rows }: { readonly rows: Install['activations'] }) {
  return (
    <PlainTable
      caption="Machines"
      rows={rows}
      rowKey={(row) => row.activation_id}
      empty="No activation has this install. It may have sent events without a license."
      columns={[
        {
          key: 'machine',
          label: 'Machine',
          grow: true,
          cell: ({ machine_id: machine }) =>
            machine ? (
              <a href={hrefOf(addQuery('/machine', { id: machine }))}>{machine}</a>
            ) : (
              'not bound yet'
            ),
        },
        {
          key: 'license',
          label: 'License',
          cell: (row) => (
            <a href={hrefOf(`/licenses/${row.license_id}`)}>{row.license_id.slice(0, 8)}</a>
          ),
        },
        {
          key: 'state',
          label: 'State',
          cell: (row) => (
            <Badge tone={row.is_active ? 'good' : 'muted'}>
              {row.is_active ? 'active' : 'deactivated'}
            </Badge>
          ),
        },
        { key: 'version', label: 'Version', cell: (row) => row.app_version },
        { key: 'system', label: 'System', hideWhenNarrow: true, cell: (row) => row.os_version },
        {
          key: 'seen',
          label: 'Last seen',
          cell: (row) => <Time at={row.last_seen_at} as="relative" />,
        },
      ]}
    />
  );
}

/** Pages below each other: older events are added. */
function EventPages({ installId }: { readonly installId: string }) {
  const [cursors, setCursors] = useState<readonly string[]>(['']);
  const add = (cursor: string): void => setCursors([...cursors, cursor]);
  return (
    <>
      {cursors.map((cursor, index) => (
        <EventPage
          key={cursor}
          installId={installId}
          cursor={cursor}
          isFirst={index === 0}
          onOlder={index === cursors.length - 1 ? add : null}
        />
      ))}
    </>
  );
}

interface EventPageProps {
  readonly installId: string;
  readonly cursor: string;
  readonly isFirst: boolean;
  readonly onOlder: ((cursor: string) => void) | null;
}

function EventPage({ installId, cursor, isFirst, onOlder }: EventPageProps) {
  const events = useOperation(listInstallEvents, { params: { id: installId }, query: { cursor } });
  return (
    <Loaded resource={events}>
      {({ items, next_cursor: next, searched_to: searchedTo }) => (
        <>
          {items.length === 0 && isFirst && next === null ? (
            <Empty title="No events">
              It sent none, or they were removed by age, erased or archived.
            </Empty>
          ) : (
            <Timeline items={items.map(toItem)} />
          )}
          {next !== null && onOlder !== null && (
            <Button onClick={() => onOlder(next)}>Events before {searchedTo}</Button>
          )}
        </>
      )}
    </Loaded>
  );
}

function toItem(event: StoredEvent) {
  const { app_version: version, event_id: id, name, os_version: system, props } = event;
  return {
    id,
    at: event.received_at,
    title: <a href={hrefOf(`/events/stored/${id}`)}>{name}</a>,
    detail: [version, system].filter(Boolean).join(' · '),
    more: (
      <Json
        value={{
          event_id: id,
          session_id: event.session_id,
          occurred_at: event.occurred_at,
          props,
        }}
      />
    ),
  };
}
