import type { Pool } from 'pg';
import {
  countStoredRows,
  type StoredCount,
} from '#server/features/master-secret/queries/count-rows.ts';
import type { Vault } from '#server/lib/vault.ts';
import { type Finding, ok, warning } from './finding.ts';

const CHECK = 'master secret';

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
  return [ok(CHECK, `Everything is stored under the current one (id ${secretId}).${spare}`)];
}

function explainOld(counts: readonly StoredCount[]): Finding {
  return warning(CHECK, {
    symptom: 'A previous master secret is still needed.',
    cause: `Rows stored under it: ${format(counts)}.`,
    fix: 'latchkey secret rotate rewrites what it can; the rest follows when its owner is seen again.',
  });
}

function explainUnknown(counts: readonly StoredCount[]): Finding {
  return warning(CHECK, {
    symptom: 'Rows are not found: licenses and machines are unknown, trials can be granted again.',
    cause: `Rows stored under a master secret that is not configured: ${format(counts)}.`,
    fix: 'Put that secret into LATCHKEY_PREVIOUS_SECRETS, if it still exists, and run latchkey secret rotate.',
  });
}

function format(counts: readonly StoredCount[]): string {
  return counts.map(({ kind, secretId, rows }) => `${rows} ${kind} (${secretId})`).join(', ');
}
