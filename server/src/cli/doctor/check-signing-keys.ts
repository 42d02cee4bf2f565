import type { Pool } from 'pg';
import { openSigningKeys } from '#server/features/entitlements/open-signing-key.ts';
import { listSigningKeys } from '#server/features/entitlements/queries.ts';
import type { Vault } from '#server/lib/vault.ts';
import { type Finding, failure, ok } from './finding.ts';

const CHECK = 'signing key';

/** Compares every row of `signing_keys` with the key that is sealed in it. */
export async function checkSigningKeys(pool: Pool, vault: Pick<Vault, 'open'>): Promise<Finding> {
  const { opened, rejected } = openSigningKeys(vault, await listSigningKeys(pool));
  if (opened.length === 0 && rejected.length > 0) return explainWrongSecret();
  if (rejected.length > 0) return explainRejected(rejected.map(({ kid }) => kid));
  if (opened.length === 0) return ok(CHECK, 'None yet; the first start creates one.');
  return ok(CHECK, `${opened.length} in the database; the master secret authenticates them.`);
}

function explainWrongSecret(): Finding {
  return failure(CHECK, {
    symptom: 'License keys are not found, and nothing can be signed.',
    cause:
      'The master secret does not open what this database holds: it was sealed under another one.',
    fix: 'Put the secret back that this database was made with (LATCHKEY_SECRET, or the file secret in the data directory).',
  });
}

function explainRejected(kids: readonly string[]): Finding {
  return failure(CHECK, {
    symptom: `Rows of signing_keys that are not used: ${kids.join(', ')}.`,
    cause:
      'The master secret does not authenticate them: they were written or changed by something other than Latchkey, or sealed under another master secret.',
    fix: 'Find out who writes to the database. Then delete these rows; if one of them signed before, clients need an entitlement of another key (they get it at their next validation).',
  });
}
