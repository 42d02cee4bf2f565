/** Checks of doctor: tables that Citus spreads over several servers. */
import type { Pool } from 'pg';

import type { ClusterFacts } from '../spread/facts.ts';
import { DATABASE_SETTINGS, SPREAD_TABLES } from '../spread/rules/layout.ts';
import { listShardCounts } from '../spread/queries.ts';
import { findLayoutProblems } from '../spread/rules/plan-spread.ts';
import { readClusterFacts } from '../spread/spread.ts';
import { failure, type Finding, ok, warning } from './finding.ts';

const CHECK = 'spread tables';

/** Checks layout, servers, settings and shards of a database with tables that Citus manages; else returns no finding. */
export async function checkSpread(pool: Pool): Promise<Finding[]> {
  const facts = await readClusterFacts(pool);
  if (facts.tables.length === 0) return [];
  const findings = [
    ...checkLayout(facts),
    ...checkNodes(facts),
    ...checkDatabaseSettings(facts),
    ...(await checkShards(pool)),
  ];
  if (findings.length > 0) return findings;
  const tables = SPREAD_TABLES.map(({ table }) => table).filter((table) =>
    facts.tables.some((each) => each.table === table),
  );
  const servers = facts.nodes.filter(({ holdsShards }) => holdsShards).length;
  return [ok(CHECK, `${tables.join(', ')} on ${servers} servers.`)];
}

function checkLayout(facts: ClusterFacts): Finding[] {
  const problems = findLayoutProblems(facts);
  if (problems.length === 0) return [];
  return [
    failure(CHECK, {
      code: 'spread.layout',
      symptom: 'Some requests fail with 500, or are slow.',
      cause: problems.join(' '),
      fix: 'Undo what is wrong, then run latchkey spread.',
    }),
  ];
}

function checkNodes({ nodes }: ClusterFacts): Finding[] {
  return nodes.flatMap(({ name, isActive, holdsShards, maxPreparedTransactions }) => {
    if (holdsShards && (!isActive || maxPreparedTransactions === null)) {
      return [
        failure(CHECK, {
          code: 'spread.server_unavailable',
          symptom: 'Requests with events fail with 503, and reports are not refreshed.',
          cause: isActive
            ? `The server ${name} does not answer.`
            : `The server ${name} is disabled in pg_dist_node.`,
          fix: 'Start the server. Clients send events again; nothing is lost.',
          facts: { server: name },
        }),
      ];
    }
    if (maxPreparedTransactions !== 0) return [];
    return [
      failure(CHECK, {
        code: 'spread.prepared_transactions',
        symptom: 'Requests with events fail with 500.',
        cause: `max_prepared_transactions is 0 on the server ${name}, which two-phase commits need.`,
        fix: 'Set it to 200 there, and restart that server.',
        facts: { server: name },
      }),
    ];
  });
}

function checkDatabaseSettings({ settings }: ClusterFacts): Finding[] {
  const wrong = Object.entries(DATABASE_SETTINGS).filter(
    ([name, value]) => settings[name] !== value,
  );
  if (wrong.length === 0) return [];
  return [
    warning(CHECK, {
      code: 'spread.settings',
      symptom: 'Events are stored slowly.',
      cause: `Settings of the database differ: ${wrong.map(([name]) => `${name} is ${settings[name]}`).join(', ')}.`,
      fix: `${wrong.map(([name, value]) => `alter database <name> set ${name} = '${value}';`).join(' ')} Then restart the service.`,
    }),
  ];
}

async function checkShards(pool: Pool): Promise<Finding[]> {
  const empty = (await listShardCounts(pool)).filter(({ shards }) => shards === 0);
  return empty.map(({ name }) =>
    warning(CHECK, {
      code: 'spread.server_empty',
      symptom: 'A server of the cluster stores nothing.',
      cause: `The server ${name} has no shards: it was added after the tables were spread.`,
      fix: 'select citus_rebalance_start();',
      facts: { server: name },
    }),
  );
}
