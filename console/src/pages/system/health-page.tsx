import type { ServiceHealth } from '@latchkey/contract';
import { showServiceHealth } from '@latchkey/contract/admin/health';

import { useOperation } from '#console/app/call.ts';
import { hrefOf } from '#console/app/router.ts';
import { Badge, type Tone } from '#console/ui/badge.tsx';
import { Facts } from '#console/ui/facts.tsx';
import { Figures } from '#console/ui/figures.tsx';
import { formatNumber } from '#console/ui/format.ts';
import { Loaded } from '#console/ui/loaded.tsx';
import { Page, Section } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { selectedTab, Tabs } from '#console/ui/tabs.tsx';
import { Time } from '#console/ui/time.tsx';
import { labelOf, sentenceCase } from '#console/ui/labels.ts';

import { DoctorView } from './doctor-view.tsx';
import { formatBytes, formatUptime } from './format-interval.ts';
import { Settings } from './health-settings.tsx';
import { Database } from './health-database.tsx';

const TABS = [
  { id: 'service', label: 'Service' },
  { id: 'doctor', label: 'Doctor' },
  { id: 'database', label: 'Database' },
  { id: 'settings', label: 'Settings' },
] as const;

const STATUS_TONES: Readonly<Record<ServiceHealth['status'], Tone>> = {
  healthy: 'good',
  degraded: 'warning',
  unhealthy: 'bad',
};

/** The service, its database, the checks of doctor and the settings. */
export function HealthPage() {
  const health = useOperation(showServiceHealth, {}, { polls: true });
  const tab = selectedTab(TABS);
  const { status } = health.data ?? {};
  return (
    <Page
      title="Health"
      status={status && <Badge tone={STATUS_TONES[status]}>{status}</Badge>}
      intro="The state of this process, updated every ten seconds."
    >
      <Tabs label="Health" items={TABS} />
      {tab === 'doctor' && <DoctorView />}
      {tab === 'settings' && <Settings />}
      {(tab === 'service' || tab === 'database') && (
        <Loaded resource={health}>
          {(data) => (tab === 'service' ? <Service health={data} /> : <Database health={data} />)}
        </Loaded>
      )}
    </Page>
  );
}

function Service({ health }: { readonly health: ServiceHealth }) {
  const { checks, disk, database } = health;
  return (
    <>
      <Figures
        items={[
          {
            label: 'Uptime',
            value: formatUptime(health.uptime_seconds),
            note: (
              <>
                since <Time at={health.started_at} />
              </>
            ),
          },
          { label: 'Memory', value: formatBytes(health.memory_bytes), note: 'of this process' },
          {
            label: 'Database',
            value: formatBytes(database.bytes),
            note: `${latencyOf(checks)}, PostgreSQL ${database.version}`,
          },
          {
            label: 'Disk free',
            value: disk === null ? '–' : formatBytes(disk.free_bytes),
            note: disk === null ? 'unknown' : `of ${formatBytes(disk.total_bytes)}`,
          },
        ]}
      />
      <Checks checks={checks} />
      <Section title="Backlog" intro="Work that waits or failed.">
        <Backlog backlog={health.backlog} />
      </Section>
      <Versions health={health} />
    </>
  );
}

function Checks({ checks }: Pick<ServiceHealth, 'checks'>) {
  return (
    <Section title="Checks">
      <PlainTable
        caption="Checks"
        rows={Object.entries(checks)}
        rowKey={([name]) => name}
        columns={[
          { key: 'name', label: 'Check', cell: ([name]) => sentenceCase(labelOf(name)) },
          {
            key: 'status',
            label: 'Status',
            cell: ([, check]) => <Badge tone={STATUS_TONES[check.status]}>{check.status}</Badge>,
          },
          {
            key: 'message',
            label: 'Problem',
            grow: true,
            cell: ([, { message }]) => message ?? '',
          },
        ]}
      />
    </Section>
  );
}

function Versions({ health }: { readonly health: ServiceHealth }) {
  const { database, disk } = health;
  const waiting = health.queues.filter((queue) => queue.waiting > 0);
  return (
    <Section title="Versions and queues">
      <Facts
        items={[
          ['Latchkey', health.version],
          ['Node.js', health.node_version],
          ['PostgreSQL', `${database.version} (${database.kind})`],
          ['Data directory', disk === null ? undefined : <code>{disk.path}</code>],
          [
            'Waiting calls',
            waiting.map((queue) => `${queue.name}: ${queue.waiting}`).join(', ') || 'none',
          ],
        ]}
      />
    </Section>
  );
}

function latencyOf(checks: ServiceHealth['checks']): string {
  const latency = checks['database']?.latency_ms;
  return latency == null ? 'no answer' : `answers in ${latency} ms`;
}

/** What waits, and the page that shows it. */
function Backlog({ backlog }: Pick<ServiceHealth, 'backlog'>) {
  const rows: readonly (readonly [string, number, string])[] = [
    ['Jobs that wait or run', backlog.jobs_open, '/jobs'],
    ['Failed jobs', backlog.jobs_failed, '/jobs?state=failed'],
    ['Failed payment events', backlog.payment_events_failed, '/payments?state=failed'],
    ['Deferred payment events', backlog.payment_events_deferred, '/payments?state=deferred'],
    ['E-mails with keys that did not arrive', backlog.key_emails_undelivered, '/mail?state=failed'],
    ['Failed deliveries of webhooks', backlog.deliveries_failed, '/webhooks'],
    ['Endpoints disabled after failures', backlog.endpoints_disabled, '/webhooks'],
  ];
  return (
    <div class="stack">
      <PlainTable
        caption="Backlog"
        rows={rows}
        rowKey={([label]) => label}
        columns={[
          { key: 'work', label: 'Work', grow: true, cell: ([label]) => label },
          {
            key: 'count',
            label: 'Number',
            align: 'end',
            cell: ([, count, to]) =>
              count === 0 ? '0' : <a href={hrefOf(to)}>{formatNumber(count)}</a>,
          },
        ]}
      />
      {backlog.reconciliation_failing && (
        <p class="notice warning">
          The event log of Paddle or the sales of Gumroad cannot be read. The log of the service
          says why.
        </p>
      )}
    </div>
  );
}
