import type { Pool } from 'pg';

import { openSigningKeys } from '#server/features/entitlements/signing-key.ts';
import { listSigningKeys } from '#server/features/entitlements/queries.ts';
import { countStoredRows, type StoredCount } from '#server/features/master-secret/queries.ts';
import type { Vault } from '#server/lib/vault.ts';

import { failure, type Finding, ok, warning } from './finding.ts';

const SIGNING_KEYS = 'signing key';

/** Compares every row of `signing_keys` with the key that is sealed in it. */
export async function checkSigningKeys(pool: Pool, vault: Pick<Vault, 'open'>): Promise<Finding> {
  const { opened, rejected } = openSigningKeys(vault, await listSigningKeys(pool));
  if (opened.length === 0 && rejected.length > 0) return explainWrongSecret();
  if (rejected.length > 0) return explainRejected(rejected.map(({ kid }) => kid));
  if (opened.length === 0) return ok(SIGNING_KEYS, 'None yet; the first start creates one.');
  return ok(
    SIGNING_KEYS,
    `${opened.length} in the database; the master secret authenticates them.`,
  );
}

function explainWrongSecret(): Finding {
  return failure(SIGNING_KEYS, {
    symptom: 'License keys are not found, and nothing can be signed.',
    cause:
      'The master secret does not open what this database holds: it was sealed under another one.',
    fix: 'Put the secret back that this database was made with (LATCHKEY_SECRET, or the file secret in the data directory).',
  });
}

function explainRejected(kids: readonly string[]): Finding {
  return failure(SIGNING_KEYS, {
    symptom: `Rows of signing_keys that are not used: ${kids.join(', ')}.`,
    cause:
      'The master secret does not authenticate them: they were written or changed by something other than Latchkey, or sealed under another master secret.',
    fix: 'Find out who writes to the database. Then delete these rows; if one of them signed before, clients need an entitlement of another key (they get it at their next validation).',
  });
}

const MASTER_SECRET = 'master secret';

/** How much is stored under a previous master secret, or under one that is not configured. */
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
    ...(old.length > 0 ? [explainOld(old)] : []),
    ...(unknown.length > 0 ? [explainUnknown(unknown)] : []),
  ];
  if (findings.length > 0) return findings;
  const spare = previous.length === 0 ? '' : ' The previous ones can be dropped.';
  return [
    ok(MASTER_SECRET, `Everything is stored under the current one (id ${secretId}).${spare}`),
  ];
}

function explainOld(counts: readonly StoredCount[]): Finding {
  return warning(MASTER_SECRET, {
    symptom: 'A previous master secret is still needed.',
    cause: `Rows stored under it: ${format(counts)}.`,
    fix: 'latchkey secret rotate rewrites what it can; the rest follows when its owner is seen again.',
  });
}

function explainUnknown(counts: readonly StoredCount[]): Finding {
  return warning(MASTER_SECRET, {
    symptom: 'Rows are not found: licenses and machines are unknown, trials can be granted again.',
    cause: `Rows stored under a master secret that is not configured: ${format(counts)}.`,
    fix: 'Put that secret into LATCHKEY_PREVIOUS_SECRETS, if it still exists, and run latchkey secret rotate.',
  });
}

function format(counts: readonly StoredCount[]): string {
  return counts.map(({ kind, secretId, rows }) => `${rows} ${kind} (${secretId})`).join(', ');
}
