import type { Pool } from 'pg';

import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { listActivationsOfAll, type ActivationRecord } from './queries/activations.ts';

const LICENSES_AT_ONCE = 200;
const PAGE_ROWS = 1_000;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

interface ActivationReader {
  readonly databaseLimiter: ConcurrencyLimiter;
  readonly pool: Pool;
}

/** Reads the activations of licenses page by page, each in a slot of the limiter, in an order of its own within 200 licenses. */
export async function* readActivationsOf(
  deps: ActivationReader,
  licenses: AsyncIterable<{ readonly id: string }>,
): AsyncGenerator<ActivationRecord> {
  let ids: string[] = [];
  for await (const { id } of licenses) {
    ids.push(id);
    if (ids.length < LICENSES_AT_ONCE) continue;
    yield* readPages(deps, ids);
    ids = [];
  }
  if (ids.length > 0) yield* readPages(deps, ids);
}

async function* readPages(
  { databaseLimiter, pool }: ActivationReader,
  licenseIds: readonly string[],
): AsyncGenerator<ActivationRecord> {
  for (let after = { licenseId: NIL_UUID, id: NIL_UUID }; ;) {
    const position = after;
    const page = await databaseLimiter.run(() =>
      listActivationsOfAll(pool, licenseIds, position, PAGE_ROWS),
    );
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS) return;
    after = { licenseId: last.licenseId, id: last.id };
  }
}

/** The columns of a file of activations, without the fingerprint of the machine. */
export const ACTIVATION_COLUMNS: CsvColumns<ActivationRecord> = {
  license_id: (activation) => activation.licenseId,
  activation_id: (activation) => activation.id,
  machine_id: (activation) => activation.machineId,
  os_version: (activation) => activation.osVersion,
  app_version: (activation) => activation.appVersion,
  is_active: (activation) => activation.deactivatedAt === null,
  activated_at: (activation) => activation.activatedAt,
  deactivated_at: (activation) => activation.deactivatedAt,
  last_validated_at: (activation) => activation.lastValidatedAt,
  validation_count: (activation) => activation.validationCount,
};
