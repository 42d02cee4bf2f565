/** The reports of `latchkey report`. */
import { Option } from 'commander';

import type { Queryable } from '#server/db/statement.ts';
import {
  listDrops,
  listEventProps,
  listEventsByDay,
  listEventTotals,
  listEventVersions,
} from '#server/features/analytics/reports/event-reports.ts';
import {
  listActiveMachines,
  listRetention,
  listTrialWeeks,
  type RetentionCell,
  systems as systemReports,
  type VersionReports,
  versions as versionReports,
} from '#server/features/analytics/reports/usage-reports.ts';
import { type DayRange, type Period, PERIODS } from '#server/features/analytics/rules/days.ts';

import { usageError } from '../command-error.ts';
import { formatTable } from '../table.ts';
import { type Answer, formatShare } from './view.ts';

/** The options of a report besides its days. */
export interface QuestionOptions {
  readonly by?: string;
  readonly name?: string;
  readonly key?: string;
}

/** A report on usage and events. */
export interface Question {
  readonly name: string;
  readonly description: string;
  /** The number of days without --from. */
  readonly defaultDays: number;
  readonly options: readonly Option[];
  readonly examples: readonly (readonly [string, string])[];
  readonly ask: (
    db: Queryable,
    range: DayRange,
    options: QuestionOptions,
    now: Date,
  ) => Promise<Answer>;
}

const MONTH_DAYS = 30;
/** Twelve weeks. */
const QUARTER_DAYS = 84;

const machines: Question = {
  name: 'machines',
  description: 'Count active machines by day, week or month.',
  defaultDays: MONTH_DAYS,
  options: [
    new Option('--by <period>', 'period; weeks start on Monday').choices(PERIODS).default('day'),
  ],
  examples: [
    ['report machines', 'Active machines of the last 30 days'],
    ['report machines --by month --from 2027-01-01', 'Active machines in each month'],
  ],
  async ask(db, range, { by }) {
    const period: Period = PERIODS.find((each) => each === by) ?? 'day';
    const rows = await listActiveMachines(db, range, period);
    return {
      columns: [
        [period, 'plain'],
        ['machines', 'plain'],
      ],
      rows: rows.map((row) => [row.starts, row.machines]),
    };
  },
};

const versions = versionQuestion(
  'versions',
  'version',
  'version of the application',
  versionReports,
);

const systems = versionQuestion('systems', 'system', 'operating system', systemReports);

function versionQuestion(
  name: 'versions' | 'systems',
  column: 'version' | 'system',
  subject: string,
  reports: VersionReports,
): Question {
  return {
    name,
    description: `Count machines by ${subject}.`,
    defaultDays: MONTH_DAYS,
    options: [
      new Option('--by <period>', 'all days together, or each day')
        .choices(['total', 'day'])
        .default('total'),
    ],
    examples: [
      [`report ${name}`, 'Machine days of the last 30 days'],
      [`report ${name} --by day --csv > ${name}.csv`, 'Machines of each day, for a spreadsheet'],
    ],
    async ask(db, range, { by }) {
      if (by === 'day') {
        const days = await reports.daily(db, range);
        return {
          columns: [
            ['day', 'plain'],
            [column, 'version'],
            ['machines', 'plain'],
          ],
          rows: days.map((row) => [row.day, row.version, row.machines]),
        };
      }
      const uses = await reports.total(db, range);
      return {
        columns: [
          [column, 'version'],
          ['machine_days', 'plain'],
          ['share', 'share'],
          ['last_day', 'plain'],
        ],
        rows: uses.map((row) => [row.version, row.machineDays, row.share, row.lastDay]),
      };
    },
  };
}

const events: Question = {
  name: 'events',
  description: 'Count events by name, with the highest number of installs on one day.',
  defaultDays: MONTH_DAYS,
  options: [
    new Option('--name <name>', 'only this event'),
    new Option(
      '--by <what>',
      'all days together, each day, or each version (default: total, or day with --name)',
    ).choices(['total', 'day', 'version']),
  ],
  examples: [
    ['report events', 'Events of the last 30 days, most frequent first'],
    ['report events --name export_finished', 'One event by day'],
    [
      'report events --name export_finished --by version',
      'One event by version of the application',
    ],
  ],
  async ask(db, range, { name, by = name === undefined ? 'total' : 'day' }) {
    if (by === 'day') return askEventsByDay(db, range, name ?? null);
    if (by === 'version') {
      if (name === undefined) throw usageError('--by version needs --name.');
      const found = await listEventVersions(db, range, name);
      return {
        columns: [['version', 'version'], ...eventColumns],
        rows: found.map((row) => [row.version, row.events, row.days, row.mostInstalls]),
      };
    }
    if (name !== undefined) throw usageError('--name needs --by day or --by version.');
    const totals = await listEventTotals(db, range);
    return {
      columns: [['name', 'name'], ...eventColumns],
      rows: totals.map((row) => [row.name, row.events, row.days, row.mostInstalls]),
    };
  },
};

const eventColumns = [
  ['events', 'plain'],
  ['days', 'plain'],
  ['most_installs', 'plain'],
] as const;

async function askEventsByDay(
  db: Queryable,
  range: DayRange,
  name: string | null,
): Promise<Answer> {
  const days = await listEventsByDay(db, range, name);
  return {
    columns: [
      ['day', 'plain'],
      ['name', 'name'],
      ['events', 'plain'],
      ['installs', 'plain'],
    ],
    rows: days.map((row) => [row.day, row.name, row.events, row.installs]),
  };
}

const props: Question = {
  name: 'props',
  description: 'Count the values of the props of an event, most frequent first.',
  defaultDays: MONTH_DAYS,
  options: [
    new Option('--name <name>', 'name of the event (required)').makeOptionMandatory(),
    new Option('--key <key>', 'only this prop'),
  ],
  examples: [
    ['report props --name export_finished', 'Every prop'],
    ['report props --name export_finished --key format', 'One prop'],
  ],
  async ask(db, range, { name = '', key }) {
    const values = await listEventProps(db, range, name, key ?? null);
    return {
      columns: [
        ['key', 'name'],
        ['value', 'name'],
        ['events', 'plain'],
      ],
      rows: values.map((row) => [row.key, row.value, row.events]),
    };
  },
};

const drops: Question = {
  name: 'drops',
  description: 'Count events that were not stored, by reason.',
  defaultDays: MONTH_DAYS,
  options: [],
  examples: [['report drops', 'Dropped events of the last 30 days']],
  async ask(db, range) {
    const days = await listDrops(db, range);
    return {
      columns: [
        ['day', 'plain'],
        ['reason', 'plain'],
        ['events', 'plain'],
      ],
      rows: days.map((row) => [row.day, row.reason, row.events]),
    };
  },
};

const retention: Question = {
  name: 'retention',
  description: 'Count machines that return in the weeks after their first one.',
  defaultDays: QUARTER_DAYS,
  options: [],
  examples: [['report retention', 'Retention of the last twelve weeks']],
  async ask(db, range) {
    const cells = await listRetention(db, range);
    return {
      columns: [
        ['cohort', 'plain'],
        ['new_machines', 'plain'],
        ['weeks_later', 'plain'],
        ['machines', 'plain'],
      ],
      rows: cells.map((row) => [row.cohort, row.newMachines, row.weeksLater, row.machines]),
      table: () => toTriangle(cells),
    };
  },
};

/** One line for each cohort, one column for each week after it. */
function toTriangle(cells: readonly RetentionCell[]): string {
  const weeks = Math.max(...cells.map(({ weeksLater }) => weeksLater)) + 1;
  const cohorts = Map.groupBy(cells, ({ cohort }) => cohort);
  const rows = [...cohorts].map(([cohort, found]) => {
    const machinesOf = new Map(found.map((cell) => [cell.weeksLater, cell.machines]));
    const newMachines = found[0]?.newMachines ?? 0;
    const shares = Array.from({ length: weeks }, (_, later) => {
      const back = machinesOf.get(later);
      return back === undefined ? '' : formatShare(back / newMachines);
    });
    return [cohort, newMachines, ...shares];
  });
  const header = Array.from({ length: weeks }, (_, later) => `week ${later}`);
  return formatTable(['first week', 'machines', ...header], rows);
}

const trials: Question = {
  name: 'trials',
  description: 'Count trials that became licenses within 14 days, on the same machine or install.',
  defaultDays: QUARTER_DAYS,
  options: [],
  examples: [['report trials', 'Trials of the last twelve weeks; open ones can still be paid']],
  async ask(db, range, _options, now) {
    const weeks = await listTrialWeeks(db, range, now);
    return {
      columns: [
        ['week', 'plain'],
        ['trials', 'plain'],
        ['paid', 'plain'],
        ['share', 'share'],
        ['open', 'plain'],
      ],
      rows: weeks.map((row) => [row.week, row.trials, row.paid, row.share, row.open]),
    };
  },
};

/** Every report, in the order of the help. */
export const QUESTIONS: readonly Question[] = [
  machines,
  versions,
  systems,
  events,
  props,
  drops,
  retention,
  trials,
];
