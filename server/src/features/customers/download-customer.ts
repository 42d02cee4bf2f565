import type { PageReader } from '#server/db/list.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import { fillWhilePending } from '#server/lib/fill-while-pending.ts';

import { recordAccess } from '../audit/record-access.ts';
import type { LicenseChangeDependencies } from '../licenses/dependencies.ts';
import { toAddress } from './find-person.ts';
import type { SharedDeviceChoice } from './facts.ts';
import { describeChoice } from './rules/select-devices.ts';
import { exportCustomer, readPersonalData } from './personal-data.ts';

/** An export of all data of a person. */
interface CustomerAccess {
  readonly email: string;
  readonly actor: string;
  readonly reason: string;
  readonly included: SharedDeviceChoice;
}

const FILL_INTERVAL_MS = 10_000;

/**
 * Yields an export in pieces: spaces while the data is read, after an audit entry, then one JSON object.
 * @param longWork limits the exports that read at the same time
 * @throws overloaded (503) from the first piece, when too many wait
 */
export async function* downloadCustomer(
  deps: LicenseChangeDependencies & PageReader,
  { actor, email, reason, included }: CustomerAccess,
  longWork: Pick<ConcurrencyLimiter, 'run'>,
): AsyncGenerator<string> {
  const { id } = toAddress(deps.vault, email);
  const reading = longWork.run(async () => {
    await recordAccess(deps, {
      actor,
      action: 'customer.export',
      subjectId: id,
      reason,
      details: describeChoice(included),
    });
    return readPersonalData(deps, email, { included });
  });
  const data = yield* fillWhilePending(reading, ' ', FILL_INTERVAL_MS);
  yield* exportCustomer(deps, email, data);
}
