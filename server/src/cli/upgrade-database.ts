/** `latchkey upgrade-database`: the embedded database of an earlier PostgreSQL. */
import { systemClock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import { loadConfiguration, readConfiguration } from '#server/config/load.ts';
import { listSecretIds } from '#server/config/secrets.ts';
import { StartupError } from '#server/config/startup-error.ts';
import { findOwnerPid } from '#server/db/embedded/owner-lock.ts';
import { listKeptClusters, removeKeptCluster } from '#server/db/upgrade/kept-clusters.ts';
import { estimateMinutes } from '#server/db/upgrade/measure.ts';
import {
  chooseKeptName,
  inspectUpgrade,
  type UpgradePlan,
  type UpgradeSource,
} from '#server/db/upgrade/plan.ts';
import { upgradeCluster, type Copied, type Upgraded } from '#server/db/upgrade/upgrade-cluster.ts';
import { insertAuditEntry } from '#server/features/audit/queries.ts';
import { version } from '#server/lib/version.ts';

import { currentActor } from './actor.ts';
import { command, type Result } from './command.ts';
import { failed, usageError } from './command-error.ts';
import { reasonOption } from './options.ts';
import { withStatus } from './output.ts';
import { anyText, flag, option } from './parameters.ts';
import { formatBytes, formatCount } from './quantity.ts';
import { formatFields } from './table.ts';
import { createCommandLog } from './with-context.ts';

export const upgradeDatabaseCommand = command({
  name: 'upgrade-database',
  description:
    'Move the embedded database to the PostgreSQL of this version, when an earlier one created it. Stop the service first. The old data is kept until --remove-old. It may be interrupted at any point, and repeated. The audit log records it.',
  examples: {
    'upgrade-database --dry-run': 'Show what would be done, and whether the disk is large enough',
    'upgrade-database': 'Copy the data to a new database, verify it, and put it in the old place',
    'upgrade-database --remove-old': 'Remove the old data, after you have tried the new version',
  },
  parameters: [
    flag('--dry-run', 'only read, and print what would be done'),
    option(
      '--old-binaries <directory>',
      'the programs of the earlier PostgreSQL (default: those in this package, else /usr/lib/postgresql/<version>/bin)',
      anyText,
    ),
    flag('--remove-old', 'only remove the old data of earlier upgrades'),
    reasonOption,
  ],
  run({ dryRun, oldBinaries, removeOld, reason }) {
    if (dryRun && removeOld) {
      throw usageError('--dry-run changes nothing and --remove-old removes data: use one of them.');
    }
    const config = readEmbedded();
    const { dataDirectory, database } = config;
    const source = { dataDirectory, account: database.account, oldBinaries };
    if (removeOld) return removeKept(source);
    return dryRun ? preview(source) : upgrade(source, reason);
  },
});

/** @throws StartupError for an invalid configuration, CommandError when the database is not the embedded one */
function readEmbedded(): Config {
  const { config, problems } = readConfiguration();
  if (problems.length > 0) throw new StartupError(problems);
  if (config.database.kind === 'embedded') return config;
  throw failed(
    'DATABASE_URL names a PostgreSQL of your own: upgrade it with its own tools, such as pg_upgrade.',
  );
}

async function upgrade(source: UpgradeSource, reason: string | null): Promise<Result> {
  const { secrets } = loadConfiguration();
  const outcome = await withStatus((report) =>
    upgradeCluster({
      ...source,
      secretIds: listSecretIds(secrets),
      version,
      now: systemClock.now(),
      report,
      log: createCommandLog(),
      beforeCommit:
        ({ from, to }) =>
        (client) =>
          insertAuditEntry(client, {
            occurredAt: systemClock.now(),
            actor: currentActor(),
            action: 'database.upgrade',
            subjectId: 'database',
            reason,
            details: { from, to },
          }),
    }),
  );
  return 'kept' in outcome ? describeUpgrade(outcome) : describeCurrent(source, outcome);
}

function describeUpgrade({ from, to, kept, copied }: Upgraded): Result {
  const content =
    copied === null
      ? 'completed the interrupted upgrade'
      : `${formatCount(copied.tables, 'table')}, ${formatCount(copied.rows, 'row')}, read back and verified`;
  return {
    json: { upgraded: true, from, to, kept, ...copied },
    text: `Upgraded the database from PostgreSQL ${from} to ${to}: ${content}. The old data is kept in ${kept}. Run latchkey doctor and start the service; later, latchkey upgrade-database --remove-old removes the old data.`,
    note: copied === null ? null : describeLeftOut(copied),
  };
}

function describeLeftOut({ refusedSettings, ownObjects }: Copied): string | null {
  const notes = [
    ...refusedSettings.map(
      (name) => `warning: The setting ${name} of the old postgresql.conf was not taken over.`,
    ),
    ...ownObjects.map((name) => `warning: The ${name} is not Latchkey's, and was not copied.`),
  ];
  return notes.length === 0 ? null : notes.join('\n');
}

async function describeCurrent(
  source: UpgradeSource,
  situation: { readonly kind: 'none' } | { readonly kind: 'current'; readonly major: string },
): Promise<Result> {
  if (situation.kind === 'none') {
    return {
      json: { upgraded: false, kept: [] },
      text: `There is no database in ${source.dataDirectory}: the first start creates it.`,
    };
  }
  const kept = await listKeptClusters(source.dataDirectory);
  const note = kept.map(({ path, bytes }) => `${path} has old data, ${formatBytes(bytes)}.`);
  return {
    json: { upgraded: false, to: situation.major, kept: kept.map(({ path }) => path) },
    text: `The database is of PostgreSQL ${situation.major}, as this version needs: there is nothing to upgrade.`,
    note: note.length === 0 ? null : note.join('\n'),
  };
}

async function preview(source: UpgradeSource): Promise<Result> {
  const situation = await inspectUpgrade(source);
  if (situation.kind === 'interrupted') {
    const text = 'An upgrade was interrupted after its copy: repeat the command without --dry-run.';
    return { json: { upgraded: false, interrupted: true }, text };
  }
  if (situation.kind !== 'old') return describeCurrent(source, situation);
  const { plan } = situation;
  const kept = await chooseKeptName(source.dataDirectory, plan.from, systemClock.now());
  const usedBy = await findOwnerPid(source.dataDirectory);
  const { from, to, size, needed, free } = plan;
  const isPossible = free >= needed && usedBy === null;
  return {
    json: {
      upgraded: false,
      from,
      to,
      old_binaries: plan.oldPrograms.postgres,
      bytes: size,
      bytes_needed: needed,
      bytes_free: free,
      kept,
      used_by: usedBy,
      possible: isPossible,
    },
    text: describePlan(source, plan, kept, usedBy),
    failed: !isPossible,
  };
}

function describePlan(
  { dataDirectory }: UpgradeSource,
  { from, to, oldPrograms, size, needed, free }: UpgradePlan,
  kept: string,
  usedBy: number | null,
): string {
  const minutes = formatCount(estimateMinutes(size), 'minute');
  const space = `${formatBytes(needed)} needed, ${formatBytes(free)} free`;
  const service =
    usedBy === null ? 'stopped' : `process ${usedBy} uses the database: stop the service first`;
  return `${formatFields([
    ['database', `${dataDirectory}/postgres, PostgreSQL ${from}, ${formatBytes(size)}`],
    ['new version', `PostgreSQL ${to}`],
    ['old programs', oldPrograms.postgres],
    ['disk space', free >= needed ? space : `${space}: free space first`],
    ['old data', `is kept as ${dataDirectory}/${kept}`],
    ['duration', `about ${minutes}, depending on the disk`],
    ['service', service],
  ])}\n\nNothing was changed.`;
}

async function removeKept(source: UpgradeSource): Promise<Result> {
  const situation = await inspectUpgrade(source);
  if (situation.kind !== 'current') {
    throw failed(
      'Nothing was removed: the upgrade is not complete, so run latchkey upgrade-database first.',
    );
  }
  const kept = await listKeptClusters(source.dataDirectory);
  for (const { path } of kept) await removeKeptCluster(path);
  const removed = kept.map(({ path }) => path);
  const text = removed.length === 0 ? 'There is no old data.' : `Removed ${removed.join(', ')}.`;
  return { json: { removed }, text };
}
