import type { PeriodicTask } from '@latchkey/contract';
import { retryJob, tasks } from '@latchkey/contract/admin/jobs';

import { pathOf, useOperation } from '#console/app/call.ts';
import { Badge, type Tone } from '#console/ui/badge.tsx';
import { formatNumber } from '#console/ui/format.ts';
import { Loaded } from '#console/ui/loaded.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { Time } from '#console/ui/time.tsx';
import { sentenceCase } from '#console/ui/labels.ts';

import { formatInterval } from './format-interval.ts';

const TASK_STATES: Readonly<Record<PeriodicTask['state'], Tone>> = {
  failing: 'bad',
  running: 'info',
  waiting: 'good',
  disabled: 'muted',
};

const TASK_LABELS: Readonly<Record<PeriodicTask['state'], string>> = {
  failing: 'failing',
  running: 'running',
  waiting: 'fine',
  disabled: 'off',
};

/** The tasks that are repeated, failing ones first. */
export function Tasks() {
  const listed = useOperation(tasks.list, {}, { polls: true });
  return (
    <Loaded resource={listed}>
      {({ items }) => (
        <PlainTable<PeriodicTask>
          caption="Periodic tasks"
          rows={items.toSorted((one, other) => rank(one) - rank(other))}
          rowKey={({ name }) => name}
          columns={[
            { key: 'name', label: 'Task', grow: true, cell: describeTask },
            {
              key: 'state',
              label: 'State',
              cell: ({ state }) => <Badge tone={TASK_STATES[state]}>{TASK_LABELS[state]}</Badge>,
            },
            {
              key: 'last',
              label: 'Last run',
              cell: (task) => <Time at={task.last_finished_at} as="relative" />,
            },
            {
              key: 'failure',
              label: 'Last failure',
              hideWhenNarrow: true,
              cell: (task) => <Time at={task.last_failed_at} as="relative" />,
            },
            {
              key: 'next',
              label: 'Next run',
              cell: (task) => <Time at={task.next_at} as="relative" never="–" />,
            },
            { key: 'actions', label: '', cell: (task) => <RunTask task={task} /> },
          ]}
        />
      )}
    </Loaded>
  );
}

/** Failing tasks first. */
function rank({ state }: PeriodicTask): number {
  return state === 'failing' ? 0 : state === 'disabled' ? 2 : 1;
}

function describeTask(task: PeriodicTask) {
  const { action, interval_seconds: seconds, last_took_ms: took, last_error: error } = task;
  const every = seconds === null ? 'once after a start' : `every ${formatInterval(seconds)}`;
  const duration = took === null ? '' : `, took ${formatNumber(took)} ms`;
  return (
    <div>
      {sentenceCase(action)}
      <div class="dim small">
        {every}
        {duration}
      </div>
      {error !== null && <div class="bad-text small">{error}</div>}
    </div>
  );
}

function RunTask({ task: { job_id: id, action, state } }: { readonly task: PeriodicTask }) {
  if (id === null || state === 'running') return null;
  return (
    <OperationAction
      of={retryJob}
      params={{ id }}
      label="Run now"
      title="Run this task now"
      explanation={`The service will ${action} at once, and then at its interval again.`}
      reason="optional"
      invalidates={[pathOf(tasks.list)]}
      done="The task runs now."
    />
  );
}
