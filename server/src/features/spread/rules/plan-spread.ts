import type { ClusterFacts, ClusterNode } from '../facts.ts';
import {
  DATABASE_SETTINGS,
  listTablesToSpread,
  SPREAD_TABLES,
  type SpreadTable,
} from './layout.ts';

/** The oldest version with which the statements were measured. */
const MIN_CITUS_VERSION = 13;

export interface SpreadPlan {
  /** One sentence each; with any, nothing is changed. */
  readonly problems: readonly string[];
  readonly toSpread: readonly SpreadTable[];
  readonly alreadySpread: readonly SpreadTable[];
  /** The names of the settings with other values than `DATABASE_SETTINGS`. */
  readonly settingsToChange: readonly string[];
}

/** What `spread --yes` changes. */
export type SpreadChange = Pick<SpreadPlan, 'toSpread' | 'settingsToChange'>;

/** Decides which tables are spread, and what prevents it. */
export function planSpread(facts: ClusterFacts, withUsage: boolean): SpreadPlan {
  const isSpread = ({ table }: SpreadTable): boolean =>
    facts.tables.some((each) => each.table === table);
  const wanted = listTablesToSpread(withUsage);
  return {
    problems: [...findServerProblems(facts), ...findLayoutProblems(facts)],
    toSpread: wanted.filter((each) => !isSpread(each)),
    alreadySpread: SPREAD_TABLES.filter(isSpread),
    settingsToChange: Object.entries(DATABASE_SETTINGS)
      .filter(([name, value]) => facts.settings[name] !== value)
      .map(([name]) => name),
  };
}

/** What a plan changes, for the audit log. */
export function describeSpread({ toSpread, settingsToChange }: SpreadChange): {
  tables?: string;
  settings?: string;
} {
  const tables = toSpread.map(({ table }) => table).join(', ');
  const settings = settingsToChange.join(', ');
  return { ...(tables === '' ? {} : { tables }), ...(settings === '' ? {} : { settings }) };
}

function findServerProblems(facts: ClusterFacts): string[] {
  const { citusVersion, isDirect, isOwner, nodes } = facts;
  if (citusVersion === null) {
    return [
      'This database has no Citus, so there is no coordinator: install Citus on every server and run create extension citus in this database on each of them.',
    ];
  }
  const problems: string[] = [];
  if (Number.parseInt(citusVersion, 10) < MIN_CITUS_VERSION) {
    problems.push(
      `This is Citus ${citusVersion}; version ${MIN_CITUS_VERSION} or newer is needed.`,
    );
  }
  if (!isDirect) {
    problems.push(
      'DATABASE_URL leads to a pooler: run this command with the URL of the coordinator itself.',
    );
  }
  if (!isOwner) {
    problems.push(
      'The role of DATABASE_URL must own the database and its tables: run this command with the URL of their owner.',
    );
  }
  if (!nodes.some(({ holdsShards, isActive }) => holdsShards && isActive)) {
    problems.push(
      "This server is no coordinator, because it knows no worker: add each with select citus_add_node('<host>', 5432).",
    );
  }
  return [...problems, ...nodes.flatMap(findNodeProblem)];
}

function findNodeProblem({ name, isActive, maxPreparedTransactions }: ClusterNode): string[] {
  if (!isActive) return [];
  if (maxPreparedTransactions === null) {
    return [`The server ${name} does not answer: start it, or remove it from the cluster.`];
  }
  if (maxPreparedTransactions > 0) return [];
  return [
    `max_prepared_transactions is 0 on the server ${name}, which two-phase commits need: set it to 200 there, and restart it.`,
  ];
}

/** Returns one sentence for each table that is distributed otherwise than `latchkey spread` does. */
export function findLayoutProblems({ tables }: Pick<ClusterFacts, 'tables'>): string[] {
  return tables.flatMap(({ table, column, colocationId }) => {
    const undo = `undo that with select undistribute_table('${table}')`;
    const wanted = SPREAD_TABLES.find((each) => each.table === table);
    if (wanted === undefined) {
      return [`The table ${table} is managed by Citus, but must stay local: ${undo}.`];
    }
    if (wanted.column !== column) {
      const actual = column === null ? 'not distributed by a column' : `distributed by ${column}`;
      return [`The table ${table} is ${actual}, but must be by ${wanted.column}: ${undo}.`];
    }
    const other = tables.find((each) => each.table === wanted.colocatedWith);
    if (wanted.colocatedWith === null || other?.colocationId === colocationId) return [];
    return [`The table ${table} is not colocated with ${wanted.colocatedWith}: ${undo}.`];
  });
}
