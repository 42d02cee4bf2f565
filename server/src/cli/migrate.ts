/** `latchkey migrate`: the schema of the database. */
import { listPendingMigrations, migrate } from '#server/db/migrate.ts';

import { command } from './command.ts';
import { flag } from './parameters.ts';
import { withDatabase } from './with-context.ts';

export const migrateCommand = command({
  name: 'migrate',
  description:
    'Migrate the database to the schema of this version. Migrations run forward only and may be started by several processes at once.',
  examples: {
    migrate: 'Before the first start on your own PostgreSQL, and after an update',
    'migrate --dry-run': 'List the migrations of an update',
  },
  parameters: [flag('--dry-run', 'list pending migrations without applying them')],
  async run({ dryRun }) {
    const names = await withDatabase(({ pool }) =>
      dryRun ? listPendingMigrations(pool) : migrate(pool),
    );
    return {
      json: dryRun ? { pending: names } : { applied: names },
      text:
        names.length === 0
          ? 'The database is up to date.'
          : `${dryRun ? 'Pending' : 'Applied'}: ${names.join(', ')}`,
    };
  },
});
