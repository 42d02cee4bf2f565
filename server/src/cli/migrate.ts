import type { Command } from 'commander';
import { listPendingMigrations, migrate } from '#server/db/migrate.ts';
import { jsonOption, newCommand } from './options.ts';
import { type OutputOptions, printResult } from './output.ts';
import { withDatabase } from './with-context.ts';

interface MigrateOptions extends OutputOptions {
  readonly dryRun?: boolean;
}

export function migrateCommand(): Command {
  return newCommand(
    'migrate',
    'Migrate the database to the schema of this version. Migrations run forward only and may be started by several processes at once.',
    [
      ['migrate', 'Before the first start on your own PostgreSQL, and after an update'],
      ['migrate --dry-run', 'List the migrations of an update'],
    ],
  )
    .option('--dry-run', 'list pending migrations without applying them')
    .addOption(jsonOption())
    .action(runMigrate);
}

async function runMigrate(options: MigrateOptions): Promise<void> {
  const dryRun = options.dryRun === true;
  const names = await withDatabase(({ pool }) =>
    dryRun ? listPendingMigrations(pool) : migrate(pool),
  );
  printResult(options, dryRun ? { pending: names } : { applied: names }, () =>
    names.length === 0
      ? 'The database is up to date.'
      : `${dryRun ? 'Pending' : 'Applied'}: ${names.join(', ')}`,
  );
}
