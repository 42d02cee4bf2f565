/** `latchkey spread`: events and usage on several servers with Citus. */
import { StartupError } from '#server/config/startup-error.ts';
import { planSpreadOf, spreadTables, type MeasuredPlan } from '#server/features/spread/spread.ts';

import { currentActor } from './actor.ts';
import { flag } from './parameters.ts';
import { formatTable } from './table.ts';
import { contextCommand } from './with-context.ts';

const RESTART =
  'Restart every process of the service, so that its connections have the new settings; then run latchkey doctor.';

const NEXT =
  'Nothing was changed. Repeat the command with --yes; events that arrive during the move wait, or are answered with 503.';

export const spreadCommand = contextCommand({
  name: 'spread',
  description:
    'Spread events over the servers of a Citus cluster, in one transaction. Needs a coordinator with workers, prepared transactions, and a connection without a pooler. Licenses and all else stay on the coordinator; what is spread already is left as it is.',
  examples: {
    spread: 'See what would be spread, or what prevents it',
    'spread --yes': 'Spread the events and their ids',
    'spread --usage --yes': 'Spread the days of use of machines, too',
  },
  parameters: [
    flag('--usage', 'also spread the days of use of machines'),
    flag('--yes', 'spread; without it nothing is changed'),
  ],
  async run(context, { usage, yes }) {
    const plan = await planSpreadOf(context.pool, usage);
    if (plan.problems.length > 0) throw new StartupError(plan.problems);
    const isDone = plan.toSpread.length === 0 && plan.settingsToChange.length === 0;
    if (yes && !isDone) await spreadTables(context, plan, currentActor());
    const tables = plan.toSpread.map(({ table }) => table);
    return {
      json: {
        spread: yes ? tables : [],
        pending: yes ? [] : tables,
        already_spread: plan.alreadySpread.map(({ table }) => table),
      },
      text: isDone ? formatDone(plan) : `${formatPlan(plan)}\n${yes ? RESTART : NEXT}`,
    };
  },
});

function formatDone({ alreadySpread }: MeasuredPlan): string {
  return `Nothing to do: ${alreadySpread.map(({ table }) => table).join(', ')} are spread.`;
}

function formatPlan({ alreadySpread, sizes }: MeasuredPlan): string {
  const done = alreadySpread.map(({ table, column }) => [table, column, 'spread already']);
  const pending = sizes.map(({ table: { table, column }, bytes }) => [
    table,
    column,
    `${Math.ceil(bytes / 2 ** 20)} MiB to move`,
  ]);
  return formatTable(['table', 'by', 'state'], [...done, ...pending]);
}
