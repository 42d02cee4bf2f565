import { Command } from 'commander';
import { listPendingMigrations, migrate } from '#server/db/migrate.ts';
import { jsonOption, withExamples } from './options.ts';
import { type OutputOptions, printResult } from './output.ts';
import { withDatabase } from './with-context.ts';

interface MigrateOptions extends OutputOptions {
  readonly dryRun?: boolean;
}

export function migrateCommand(): Command {
  const command = new Command('migrate')
    .description(
      'Bring the database to the schema of this version. Forward only; safe to run from several places at once.',
    )
    .option('--dry-run', 'list what would be applied')
    .addOption(jsonOption())
    .action(runMigrate);
  return withExamples(command, [
    ['migrate', 'Before the first start on a database of your own, and after an update'],
    ['migrate --dry-run', 'What an update would change'],
  ]);
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
