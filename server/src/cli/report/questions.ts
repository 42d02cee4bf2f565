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
import { formatTable } from '../output.ts';
import { type Answer, formatShare } from './view.ts';

/** The options of a question besides the days. */
export interface QuestionOptions {
  readonly by?: string;
  readonly name?: string;
  readonly key?: string;
}

/** Something that can be asked of usage and events. */
export interface Question {
  readonly name: string;
  readonly description: string;
  /** How many days are looked at when none are named. */
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

/** How many days most questions look at. */
const MONTH_DAYS = 30;
/** How many days the questions by week look at: twelve weeks. */
const QUARTER_DAYS = 84;

/** How many machines are in use. */
const machines: Question = {
  name: 'machines',
  description: 'How many machines are in use, each counted once in a day, a week or a month.',
  defaultDays: MONTH_DAYS,
  options: [
    new Option('--by <period>', 'what is counted in; weeks begin on Monday')
      .choices(PERIODS)
      .default('day'),
  ],
  examples: [
    ['report machines', 'The last 30 days'],
    ['report machines --by month --from 2027-01-01', 'Machines active in each month of the year'],
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

/** Which versions of the application machines have. */
const versions = versionQuestion(
  'versions',
  'version',
  'versions of the application',
  versionReports,
);

/** Which operating systems machines have. */
const systems = versionQuestion('systems', 'system', 'operating systems', systemReports);

function versionQuestion(
  name: 'versions' | 'systems',
  column: 'version' | 'system',
  subject: string,
  reports: VersionReports,
): Question {
  return {
    name,
    description: `Which ${subject} machines have, by what they told on each day.`,
    defaultDays: MONTH_DAYS,
    options: [
      new Option('--by <what>', 'how it is broken down').choices(['total', 'day']).default('total'),
    ],
    examples: [
      [`report ${name}`, 'By the machines of each day, added up over 30 days'],
      [`report ${name} --by day --csv > ${name}.csv`, 'Day by day, for a spreadsheet'],
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

/** How often events arrived. */
const events: Question = {
  name: 'events',
  description:
    'How often events arrived, by name; installs are counted once a day, and the most of a day is told.',
  defaultDays: MONTH_DAYS,
  options: [
    new Option('--name <name>', 'of this event only'),
    new Option(
      '--by <what>',
      'how it is broken down (default: total, or day for one event)',
    ).choices(['total', 'day', 'version']),
  ],
  examples: [
    ['report events', 'Which events arrive, the most frequent first'],
    ['report events --name export_finished', 'One event day by day'],
    ['report events --name export_finished --by version', 'Which versions it comes from'],
  ],
  async ask(db, range, { name, by = name === undefined ? 'total' : 'day' }) {
    if (by === 'day') return askEventsByDay(db, range, name ?? null);
    if (by === 'version') {
      if (name === undefined) throw usageError('--by version needs the --name of an event.');
      const found = await listEventVersions(db, range, name);
      return {
        columns: [['version', 'version'], ...eventColumns],
        rows: found.map((row) => [row.version, row.events, row.days, row.mostInstalls]),
      };
    }
    if (name !== undefined) throw usageError('--name goes with --by day or --by version.');
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

/** Which values the props of an event have. */
const props: Question = {
  name: 'props',
  description: "Which values an event's props have, the most frequent first.",
  defaultDays: MONTH_DAYS,
  options: [
    new Option('--name <name>', 'the event').makeOptionMandatory(),
    new Option('--key <key>', 'one of its props'),
  ],
  examples: [
    ['report props --name export_finished', 'All of its props'],
    ['report props --name export_finished --key format', 'One of them'],
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

/** Why events were not stored. */
const drops: Question = {
  name: 'drops',
  description: 'How many events were not stored, and why.',
  defaultDays: MONTH_DAYS,
  options: [],
  examples: [['report drops', 'When a client says that its events are dropped']],
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

/** How many of the new machines come back. */
const retention: Question = {
  name: 'retention',
  description: 'How many of the machines that were new in a week come back in the weeks after it.',
  defaultDays: QUARTER_DAYS,
  options: [],
  examples: [['report retention', 'The last twelve weeks']],
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

/** A line for each cohort, a column for each week later. */
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
  return formatTable(['new in week of', 'machines', ...header], rows);
}

/** How many trials became licenses. */
const trials: Question = {
  name: 'trials',
  description:
    'How many trials became licenses within 14 days, on the same machine or by the same install.',
  defaultDays: QUARTER_DAYS,
  options: [],
  examples: [['report trials', 'The last twelve weeks; those marked open may yet be paid']],
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

/** All that can be asked, in the order of the help. */
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
