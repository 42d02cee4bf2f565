import type { BackgroundJob } from '@latchkey/contract';
import { jobs, retryFailedJobs, retryJob, tasks } from '@latchkey/contract/admin/jobs';

import { pathOf } from '#console/app/call.ts';
import { Badge, type Tone } from '#console/ui/badge.tsx';
import { CsvButton, exportOf } from '#console/ui/csv-button.tsx';
import { formatNumber } from '#console/ui/format.ts';
import { ListTable } from '#console/ui/list-table.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { Page } from '#console/ui/page.tsx';
import { selectedTab, Tabs } from '#console/ui/tabs.tsx';
import { Time } from '#console/ui/time.tsx';
import { labelOf, sentenceCase, toOptions } from '#console/ui/labels.ts';

import { Tasks } from './tasks.tsx';

const TABS = [
  { id: 'jobs', label: 'Jobs' },
  { id: 'tasks', label: 'Periodic tasks' },
] as const;

/** Background jobs, and tasks that are repeated. */
export function JobsPage() {
  return (
    <Page
      title="Jobs"
      intro="Work in the background: e-mails with keys, look-ups of buyers, clean-up."
      actions={
        <>
          {selectedTab(TABS) === 'tasks' && <CsvButton {...exportOf(tasks.export, {})} />}
          <RetryAll />
        </>
      }
    >
      <Tabs label="Background work" items={TABS} />
      {selectedTab(TABS) === 'jobs' ? <Jobs /> : <Tasks />}
    </Page>
  );
}

function RetryAll() {
  return (
    <OperationAction
      of={retryFailedJobs}
      label="Retry failed jobs"
      explanation="Every job that exhausted its attempts runs at once, with all its attempts. Remove the cause first."
      confirm="Retry all"
      reason="optional"
      invalidates={[pathOf(jobs.list)]}
      done="The failed jobs run now."
    />
  );
}

const STATES: Readonly<Record<BackgroundJob['state'], Tone>> = {
  failed: 'bad',
  retrying: 'warning',
  running: 'info',
  waiting: 'muted',
};

/** The largest number of attempts that is a number at all. */
const UNLIMITED = 32_767;

function Jobs() {
  return (
    <ListTable
      of={jobs}
      search="Kind, transaction, or error"
      polls
      rowKey={({ id }) => id}
      filters={[
        {
          name: 'state',
          label: 'State',
          options: toOptions(Object.keys(STATES)),
        },
      ]}
      ready={[
        { label: 'Failed', query: { state: 'failed' } },
        { label: 'Retrying', query: { state: 'retrying' } },
      ]}
      empty={{
        title: 'No jobs',
        text: 'Everything is done. A job appears here while it waits, runs or has failed.',
      }}
      columns={[
        { key: 'name', label: 'Job', sort: 'ascending', grow: true, cell: describeJob },
        {
          key: 'state',
          label: 'State',
          cell: ({ state }) => <Badge tone={STATES[state]}>{state}</Badge>,
        },
        {
          key: 'attempts',
          label: 'Attempts',
          sort: 'descending',
          align: 'end',
          cell: ({ attempts, max_attempts: max }) =>
            max === UNLIMITED ? formatNumber(attempts) : `${attempts} of ${max}`,
        },
        {
          key: 'created_at',
          label: 'Added',
          sort: 'descending',
          hideWhenNarrow: true,
          cell: ({ created_at: at }) => <Time at={at} as="relative" />,
        },
        {
          key: 'next_at',
          label: 'Next attempt',
          sort: 'ascending',
          cell: ({ next_at: at }) => <Time at={at} as="relative" never="–" />,
        },
        { key: 'actions', label: '', cell: (job) => <RetryJob job={job} /> },
      ]}
    />
  );
}

/** In characters: a hash is recognized by its beginning. */
const MAX_DETAIL = 40;

function describeJob({ id, name, payload, last_error: error }: BackgroundJob) {
  const details = Object.values(payload)
    .filter((value) => typeof value === 'string')
    .map((value) => (value.length > MAX_DETAIL ? `${value.slice(0, MAX_DETAIL)}…` : value));
  return (
    <div>
      {sentenceCase(labelOf(name))} <span class="dim">#{id}</span>
      <div class="dim small">{details.join(' · ')}</div>
      {error !== null && <div class="bad-text small">{error}</div>}
    </div>
  );
}

function RetryJob({ job }: { readonly job: BackgroundJob }) {
  if (job.state !== 'failed' && job.state !== 'retrying') return null;
  return (
    <OperationAction
      of={retryJob}
      params={{ id: job.id }}
      label="Retry"
      title={`Retry job ${job.id}`}
      explanation="It runs at once, with all its attempts."
      reason="optional"
      invalidates={[pathOf(jobs.list)]}
      done="The job runs now."
    />
  );
}
