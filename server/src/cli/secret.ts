import { Command } from 'commander';

import type { Config } from '#server/config/config.ts';
import { readConfiguration } from '#server/config/load.ts';
import { previousSecretsPath, replaceMasterSecret } from '#server/config/master-secret.ts';
import type { Context } from '#server/context.ts';
import { findEmbeddedPostgres } from '#server/db/embedded/connection.ts';
import {
  countStoredRows,
  type StoredCount,
  countOutdatedProcesses,
} from '#server/features/master-secret/queries.ts';
import {
  rotateMasterSecret,
  type RotationResult,
} from '#server/features/master-secret/rotate-master-secret.ts';

import { currentActor } from './actor.ts';
import { failed } from './command-error.ts';
import { jsonOption, withExamples } from './options.ts';
import { formatTable, type OutputOptions, printNote, printResult, withProgress } from './output.ts';
import { withContext } from './with-context.ts';

/** `latchkey secret …` */
export function secretCommand(): Command {
  return new Command('secret')
    .description('The master secret that keys and personal data are stored under.')
    .addCommand(secretRotateCommand());
}

interface RotateOptions extends OutputOptions {
  readonly new?: boolean;
  readonly dryRun?: boolean;
}

function secretRotateCommand(): Command {
  const command = new Command('rotate')
    .description(
      'Store everything that can be read under the current master secret instead of a previous one (LATCHKEY_PREVIOUS_SECRETS). Safe while the service runs, and to be interrupted and run again.',
    )
    .option(
      '--new',
      'create a new secret in the data directory first; the old one is kept beside it',
    )
    .option('--dry-run', 'only count what is stored under which secret')
    .addOption(jsonOption())
    .action(rotate);
  return withExamples(command, [
    ['secret rotate --dry-run', 'What is stored under which secret'],
    ['secret rotate --new', 'A secret in the data directory leaked'],
    ['secret rotate', 'After LATCHKEY_SECRET was replaced'],
  ]);
}

async function rotate(options: RotateOptions): Promise<void> {
  if (options.new === true && options.dryRun === true) {
    throw failed('--new creates a secret and --dry-run changes nothing: give one of them.');
  }
  if (options.new === true && !(await createNewSecret(options))) return;
  await withContext(async (ctx) => {
    if (options.dryRun !== true) await requireReaders(ctx);
    const result =
      options.dryRun === true
        ? null
        : await withProgress('rows rewritten', (report) =>
            rotateMasterSecret(ctx, currentActor(), report),
          );
    const stored = (await countStoredRows(ctx.pool)).map((count) => describe(ctx, count));
    const secretId = ctx.vault.secretId;
    printResult(options, { secret_id: secretId, rewritten: toJson(result), stored }, () =>
      [
        formatTable(
          ['stored', 'under secret', 'rows'],
          stored.map((row) => [row.kind, `${row.secret_id} (${row.secret})`, String(row.rows)]),
        ),
        advise(stored),
      ].join('\n'),
    );
    if (countFailures(result) > 0) {
      throw failed(`${countFailures(result)} rows could not be opened: doctor names them.`);
    }
  });
}

/**
 * Replaces the secret file.
 * @returns whether to go on: a service that runs does not know the new secret before it is started again
 */
async function createNewSecret(options: OutputOptions): Promise<boolean> {
  const { config, environment, problems } = readConfiguration();
  if (problems.length > 0) throw failed(problems.join(' '));
  if (environment.masterSecret !== undefined) {
    throw failed(
      'The master secret is set by LATCHKEY_SECRET: put the new one there and the old one into LATCHKEY_PREVIOUS_SECRETS, start the service again, then run latchkey secret rotate.',
    );
  }
  const isRunning = await isServiceRunning(config);
  replaceMasterSecret(config.dataDirectory);
  const kept = previousSecretsPath(config.dataDirectory);
  printNote(`A new master secret was created; the old one is kept in ${kept}.`);
  if (!isRunning) return true;
  const next = 'Start the service again now, then run latchkey secret rotate.';
  printResult(options, { created: true, rewritten: null, next }, () => next);
  return false;
}

async function isServiceRunning({ database, dataDirectory }: Config): Promise<boolean> {
  return database.kind === 'embedded' && (await findEmbeddedPostgres(dataDirectory)) !== null;
}

/** A process without the current secret would not find what is rewritten. */
async function requireReaders({ pool, vault }: Context): Promise<void> {
  if ((await countOutdatedProcesses(pool, vault.secretId)) === 0) return;
  throw failed(
    'A process is connected to the database that does not know the current master secret: start every process of the service with the new settings first.',
  );
}

interface StoredRow {
  readonly kind: string;
  readonly secret_id: string;
  readonly secret: 'current' | 'previous' | 'unknown';
  readonly rows: number;
}

function describe({ vault }: Context, { kind, secretId, rows }: StoredCount): StoredRow {
  const isPrevious = vault.previous.some((hashes) => hashes.secretId === secretId);
  const other = isPrevious ? 'previous' : 'unknown';
  return {
    kind,
    secret_id: secretId,
    secret: secretId === vault.secretId ? 'current' : other,
    rows,
  };
}

function advise(stored: readonly StoredRow[]): string {
  const old = stored.filter(({ secret }) => secret !== 'current');
  if (old.length === 0)
    return 'Everything is stored under the current secret: drop the previous one.';
  return 'The rest is rewritten when its owner is seen again; docs/operations/keys.md says what is lost when the previous secret is dropped earlier.';
}

function toJson(result: RotationResult | null) {
  if (result === null) return null;
  const { licenses, signingKeys, webhookSecrets, addresses, usage } = result;
  return {
    licenses: licenses.rewritten,
    signing_keys: signingKeys.rewritten,
    webhook_secrets: webhookSecrets.rewritten,
    addresses,
    usage,
    failed: countFailures(result),
  };
}

function countFailures(result: RotationResult | null): number {
  if (result === null) return 0;
  const { licenses, signingKeys, webhookSecrets } = result;
  return licenses.failed + signingKeys.failed + webhookSecrets.failed;
}
