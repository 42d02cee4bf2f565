import { hash } from 'node:crypto';

import type { PoolClient } from 'pg';

import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { listLicensesByIds, type LicenseRecord } from '../licenses/queries/licenses.ts';
import { GRACE_DAYS } from '../licenses/rules/status.ts';
import {
  insertExpiryCursor,
  listTransitions,
  listRecordedTransitions,
  lockExpiryCursor,
  moveExpiryCursor,
  type StatusTransition,
} from './queries/transitions.ts';
import { recordEvents, type LicenseEvent } from './record-events.ts';
import { describeTransition } from './rules/describe-change.ts';

type SweepContext = Pick<Context, 'catalog' | 'clock' | 'pool' | 'wantedEvents'>;

/**
 * A moment is told so much later, so that a change of the license that was under way then is committed: it may have moved
 * the moment away, or brought it.
 */
const LAG_MS = 30_000;

const GRACE_MS = GRACE_DAYS * 86_400_000;

const PAGE_SIZE = 500;

/** A sweep after a long standstill goes on at the next one. */
const MAX_PAGES = 20;

/**
 * Records what became of licenses by time alone: `license.expired` when the term or the days of grace are over,
 * `license.status_changed` for the others. Begins where the last sweep ended, in whatever process that was.
 */
export async function recordTimeBasedEvents(ctx: SweepContext): Promise<void> {
  const until = new Date(ctx.clock.now().getTime() - LAG_MS);
  for (let page = 0; page < MAX_PAGES; page++) {
    const count = await inTransaction(ctx.pool, (client) => announcePage(ctx, client, until));
    if (count < PAGE_SIZE) return;
  }
}

/** Gives how many moments there were. */
async function announcePage(ctx: SweepContext, client: PoolClient, until: Date): Promise<number> {
  await insertExpiryCursor(client, until);
  const cursor = await lockExpiryCursor(client);
  if (cursor === null) return 0;
  // Whoever registers an endpoint later is not told of what was before.
  if (!(await isAnythingWanted(ctx, client))) {
    await moveExpiryCursor(client, { moment: until, licenseId: LAST_LICENSE });
    return 0;
  }
  const moments = await listTransitions(client, cursor, until, GRACE_MS, PAGE_SIZE);
  if (moments.length > 0) {
    await recordEvents(ctx, client, await describeTransitions(client, moments), ctx.clock.now());
  }
  const last = moments[PAGE_SIZE - 1] ?? { moment: until, licenseId: LAST_LICENSE };
  await moveExpiryCursor(client, last);
  return moments.length;
}

/** After all licenses of one moment. */
const LAST_LICENSE = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

async function isAnythingWanted(ctx: SweepContext, client: PoolClient): Promise<boolean> {
  return (
    (await ctx.wantedEvents.has(client, 'license.expired')) ||
    ctx.wantedEvents.has(client, 'license.status_changed')
  );
}

async function describeTransitions(
  client: PoolClient,
  moments: readonly StatusTransition[],
): Promise<LicenseEvent[]> {
  const licenses = await listLicensesByIds(client, [
    ...new Set(moments.map(({ licenseId }) => licenseId)),
  ]);
  const byId = new Map(licenses.map((license) => [license.id, license]));
  const told = new Set((await listRecordedTransitions(client, moments)).map(nameOf));
  return moments
    .filter((moment) => !told.has(nameOf(moment)))
    .flatMap((moment) => describe(byId.get(moment.licenseId), moment));
}

function describe(license: LicenseRecord | undefined, at: StatusTransition): LicenseEvent[] {
  if (license === undefined || license.createdAt >= at.moment) return [];
  const event = describeTransition(license, at.moment);
  if (event === null) return [];
  return [{ ...event, license, occurredAt: at.moment, messageId: messageIdOf(at) }];
}

/** The same each time, so that a moment is told of once; like all messages' ids, in the order of time. */
function messageIdOf(at: StatusTransition): string {
  const time = at.moment.getTime().toString(16).padStart(12, '0');
  return `msg_${time}${hash('sha256', nameOf(at)).slice(0, 20)}`;
}

function nameOf({ moment, licenseId }: StatusTransition): string {
  return `${licenseId} ${moment.toISOString()}`;
}
