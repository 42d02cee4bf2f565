/** `latchkey secret`: the master secret that keys and personal data are stored under. */
import type { Config } from '#server/config/config.ts';
import { readConfiguration } from '#server/config/load.ts';
import { previousSecretsPath, replaceMasterSecret } from '#server/config/master-secret.ts';
import type { Context } from '#server/context.ts';
import { findEmbeddedPostgres } from '#server/db/embedded/connection.ts';
import {
  countOutdatedProcesses,
  countStoredRows,
  type StoredCount,
} from '#server/features/master-secret/queries.ts';
import {
  rotateMasterSecret,
  type RotationResult,
} from '#server/features/master-secret/rotate-master-secret.ts';

import { currentActor } from './actor.ts';
import { command, commandGroup } from './command.ts';
import { failed } from './command-error.ts';
import { printNote, withProgress } from './output.ts';
import { flag } from './parameters.ts';
import { formatTable } from './table.ts';
import { withContext } from './with-context.ts';

const rotateCommand = command({
  name: 'rotate',
  description:
    'Rewrite stored data under the current master secret. Run it after the secret was replaced and the old one is in LATCHKEY_PREVIOUS_SECRETS. It may run beside the service and may be interrupted and repeated.',
  examples: {
    'secret rotate --dry-run': 'Count the rows under each secret',
    'secret rotate --new': 'Replace a secret in the data directory that leaked',
    'secret rotate': 'After LATCHKEY_SECRET was replaced',
  },
  parameters: [
    flag('--new', 'create a new secret in the data directory first, and keep the old one there'),
    flag('--dry-run', 'count the rows under each secret without rewriting them'),
  ],
  async run({ new: isNew, dryRun }) {
    if (isNew && dryRun) {
      throw failed('--new creates a secret and --dry-run changes nothing: use one of them.');
    }
    if (isNew && !(await createNewSecret())) {
      const next = 'Restart the service now, then run latchkey secret rotate.';
      return { json: { created: true, rewritten: null, next }, text: next };
    }
    return withContext(async (context) => {
      const result = dryRun ? null : await rewriteRows(context);
      const stored = (await countStoredRows(context.pool)).map((count) =>
        describeCount(context, count),
      );
      const failures = countFailures(result);
      return {
        json: { secret_id: context.vault.secretId, rewritten: toJson(result), stored },
        text: formatStored(stored),
        note: failures === 0 ? null : `${failures} rows could not be opened: run latchkey doctor.`,
        failed: failures > 0,
      };
    });
  },
});

/**
 * Replaces the secret file.
 * @returns whether to continue: a running service does not know the new secret before it is restarted
 */
async function createNewSecret(): Promise<boolean> {
  const { config, environment, problems } = readConfiguration();
  if (problems.length > 0) throw failed(problems.join(' '));
  if (environment.masterSecret !== undefined) {
    throw failed(
      'The master secret is set by LATCHKEY_SECRET: set it to the new secret, add the old one to LATCHKEY_PREVIOUS_SECRETS, restart the service, then run latchkey secret rotate.',
    );
  }
  const isRunning = await isServiceRunning(config);
  replaceMasterSecret(config.dataDirectory);
  const kept = previousSecretsPath(config.dataDirectory);
  printNote(`Created a new master secret; the old one is in ${kept}.`);
  return !isRunning;
}

async function isServiceRunning({ database, dataDirectory }: Config): Promise<boolean> {
  return database.kind === 'embedded' && (await findEmbeddedPostgres(dataDirectory)) !== null;
}

async function rewriteRows(context: Context): Promise<RotationResult> {
  // A process without the current secret would not find the rewritten rows.
  if ((await countOutdatedProcesses(context.pool, context.vault.secretId)) > 0) {
    throw failed(
      'A connected process does not know the current master secret: restart every process of the service with the new settings first.',
    );
  }
  return withProgress('rows rewritten', (report) =>
    rotateMasterSecret(context, currentActor(), report),
  );
}

interface StoredRow {
  readonly kind: string;
  readonly secret_id: string;
  readonly secret: 'current' | 'previous' | 'unknown';
  readonly rows: number;
}

function describeCount({ vault }: Context, { kind, secretId, rows }: StoredCount): StoredRow {
  const isPrevious = vault.previous.some((hashes) => hashes.secretId === secretId);
  const other = isPrevious ? 'previous' : 'unknown';
  const secret = secretId === vault.secretId ? 'current' : other;
  return { kind, secret_id: secretId, secret, rows };
}

function formatStored(stored: readonly StoredRow[]): string {
  const table = formatTable(
    ['stored', 'under secret', 'rows'],
    stored.map((row) => [row.kind, `${row.secret_id} (${row.secret})`, row.rows]),
  );
  const advice = stored.every(({ secret }) => secret === 'current')
    ? 'Every row is stored under the current secret: remove the previous one.'
    : 'The remaining rows are rewritten when their owner is active again. docs/operations/keys.md explains what is lost if the previous secret is removed earlier.';
  return `${table}\n${advice}`;
}

function toJson(result: RotationResult | null) {
  if (result === null) return null;
  const { licenses, signingKeys, webhookSecrets, operatorTotp, addresses, usage } = result;
  return {
    licenses: licenses.rewritten,
    signing_keys: signingKeys.rewritten,
    webhook_secrets: webhookSecrets.rewritten,
    operator_totp: operatorTotp.rewritten,
    addresses,
    usage,
    failed: countFailures(result),
  };
}

function countFailures(result: RotationResult | null): number {
  if (result === null) return 0;
  const { licenses, signingKeys, webhookSecrets, operatorTotp } = result;
  return licenses.failed + signingKeys.failed + webhookSecrets.failed + operatorTotp.failed;
}

export const secretCommand = commandGroup(
  'secret',
  'Rotate the master secret that keys and personal data are stored under.',
  [rotateCommand],
);
