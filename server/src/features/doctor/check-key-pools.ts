/** Checks of doctor: the pools of keys that licenses take. */
import type { Pool } from 'pg';

import { loadCatalog, type Catalog } from '#server/config/catalog.ts';
import { StartupError } from '#server/config/startup-error.ts';

import { countFreeKeys, FEW_KEYS } from '../licenses/view-key-pools.ts';
import { type Finding, ok, warningIf } from './finding.ts';

/**
 * Checks that pools have free keys for the next purchases. Returns no finding if no product takes keys of a pool, or for an
 * invalid catalogue, which another check reports.
 */
export async function checkKeyPools(pool: Pool, catalogPath: string): Promise<Finding[]> {
  const catalog = readCatalog(catalogPath);
  if (catalog === null) return [];
  const counts = Object.entries(await countFreeKeys(pool, catalog));
  if (counts.length === 0) return [];
  const check = 'key pools';
  const low = counts.filter(([, free]) => free < FEW_KEYS);
  const named = low.map(([productId, free]) => `${productId} (${free})`).join(', ');
  const findings = warningIf(low.length > 0, check, {
    code: 'key_pool.low',
    symptom: `Pools with fewer than ${FEW_KEYS} free keys: ${named}.`,
    cause:
      'Each purchase takes a key. A purchase without a free key has no license and needs attention.',
    fix: 'Run latchkey pool add --product <id> <file> --reason <text>, then latchkey webhook replay --attention --reason <text>.',
    facts: { pools: low.length },
  });
  return findings.length > 0 ? findings : [ok(check, 'Every pool has free keys.')];
}

function readCatalog(path: string): Catalog | null {
  try {
    return loadCatalog(path);
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    return null;
  }
}
