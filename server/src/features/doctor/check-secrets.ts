/** Checks of doctor: signing keys and the master secret. */
import type { Pool } from 'pg';

import { openSigningKeys } from '../entitlements/signing-key.ts';
import { listSigningKeys } from '../entitlements/queries.ts';
import { countStoredRows, type StoredCount } from '../master-secret/queries.ts';
import type { Vault } from '#server/lib/vault.ts';

import { failure, type Finding, ok, warningIf } from './finding.ts';

const SIGNING_KEYS = 'signing key';

/** Checks that the master secret authenticates every row of `signing_keys`. */
export async function checkSigningKeys(pool: Pool, vault: Pick<Vault, 'open'>): Promise<Finding> {
  const { opened, rejected } = openSigningKeys(vault, await listSigningKeys(pool));
  if (opened.length === 0 && rejected.length > 0) {
    return failure(SIGNING_KEYS, {
      code: 'signing_keys.wrong_master_secret',
      symptom: 'License keys are not found, and entitlements cannot be signed.',
      cause: 'The data in this database was sealed under another master secret.',
      fix: 'Restore the master secret of this database (LATCHKEY_SECRET, or the file secret in the data directory).',
    });
  }
  if (rejected.length > 0) {
    const kids = rejected.map(({ kid }) => kid);
    return failure(SIGNING_KEYS, {
      code: 'signing_keys.rejected',
      symptom: `Rejected rows of signing_keys: ${kids.join(', ')}.`,
      cause:
        'The master secret does not authenticate them: another program wrote or changed them, or they were sealed under another master secret.',
      fix: 'Find out which program writes to the database, then delete these rows. If one of them signed before, clients get an entitlement of another key at their next validation.',
      facts: { kids },
    });
  }
  if (opened.length === 0) return ok(SIGNING_KEYS, 'None yet; the first start creates one.');
  return ok(SIGNING_KEYS, `${opened.length} in the database, authenticated by the master secret.`);
}

const MASTER_SECRET = 'master secret';

/** Checks for rows stored under a previous master secret, or under one that is not configured. */
export async function checkMasterSecret(
  pool: Pool,
  { previous, secretId }: Pick<Vault, 'previous' | 'secretId'>,
): Promise<Finding[]> {
  const outdated = (await countStoredRows(pool)).filter((count) => count.secretId !== secretId);
  const isPrevious = (count: StoredCount): boolean =>
    previous.some((hashes) => hashes.secretId === count.secretId);
  const old = outdated.filter(isPrevious);
  const unknown = outdated.filter((count) => !isPrevious(count));
  const findings = [
    ...warningIf(old.length > 0, MASTER_SECRET, {
      code: 'master_secret.previous_in_use',
      symptom: 'A previous master secret is still needed.',
      cause: `Rows stored under it: ${format(old)}.`,
      fix: 'latchkey secret rotate rewrites rows; the remaining ones are rewritten when their owner is active again.',
      facts: { stored: toFacts(old) },
    }),
    ...warningIf(unknown.length > 0, MASTER_SECRET, {
      code: 'master_secret.unknown_in_use',
      symptom:
        'Rows are not found: licenses and machines are unknown, trials can be granted again.',
      cause: `Rows stored under a master secret that is not configured: ${format(unknown)}.`,
      fix: 'Add that secret to LATCHKEY_PREVIOUS_SECRETS, if it still exists, and run latchkey secret rotate.',
      facts: { stored: toFacts(unknown) },
    }),
  ];
  if (findings.length > 0) return findings;
  const spare = previous.length === 0 ? '' : ' The previous ones can be removed.';
  return [ok(MASTER_SECRET, `Every row is stored under the current one (id ${secretId}).${spare}`)];
}

function toFacts(counts: readonly StoredCount[]) {
  return counts.map(({ kind, secretId, rows }) => ({ kind, secret_id: secretId, rows }));
}

function format(counts: readonly StoredCount[]): string {
  return counts.map(({ kind, secretId, rows }) => `${rows} ${kind} (${secretId})`).join(', ');
}
