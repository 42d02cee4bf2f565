import { hash } from 'node:crypto';

import type { Pool, PoolClient } from 'pg';

import type { Clock } from '#server/clock.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { listLicensesByIds, type LicenseRecord } from '../licenses/queries/licenses.ts';
import {
  insertExpiryCursor,
  listRecordedTransitions,
  listTransitions,
  lockExpiryCursor,
  moveExpiryCursor,
  type StatusTransition,
} from './queries/transitions.ts';
import { recordEvents, type EventDependencies, type LicenseEvent } from './record-events.ts';
import { describeTransition } from './rules/describe-change.ts';

export interface TransitionDependencies extends EventDependencies {
  readonly clock: Clock;
  readonly pool: Pool;
}

/**
 * A transition is recorded after this delay, so that concurrent changes of the license, which may move or add it, are
 * committed.
 */
const LAG_MS = 30_000;

const PAGE_SIZE = 500;

/** After a long outage the next run continues. */
const MAX_PAGES = 20;

/**
 * Records the status changes of licenses that follow from time alone: `license.expired` at the end of the term or of the
 * grace period, `license.status_changed` for others. Continues after the last run of any process.
 */
export async function recordTimeBasedEvents(deps: TransitionDependencies): Promise<void> {
  const until = new Date(deps.clock.now().getTime() - LAG_MS);
  for (let page = 0; page < MAX_PAGES; page++) {
    const count = await inTransaction(deps.pool, (client) => recordPage(deps, client, until));
    if (count < PAGE_SIZE) return;
  }
}

/** Returns the number of transitions. */
async function recordPage(
  deps: TransitionDependencies,
  client: PoolClient,
  until: Date,
): Promise<number> {
  await insertExpiryCursor(client, until);
  const cursor = await lockExpiryCursor(client);
  if (cursor === null) return 0;
  // Endpoints that are registered later do not receive earlier events.
  if (!(await hasSubscribers(deps, client))) {
    await moveExpiryCursor(client, { at: until, licenseId: LAST_LICENSE_ID });
    return 0;
  }
  const transitions = await listTransitions(client, cursor, until, PAGE_SIZE);
  if (transitions.length > 0) {
    const events = await describeTransitions(client, transitions);
    await recordEvents(deps, client, events, deps.clock.now());
  }
  const last = transitions[PAGE_SIZE - 1] ?? { at: until, licenseId: LAST_LICENSE_ID };
  await moveExpiryCursor(client, last);
  return transitions.length;
}

/** Sorts after all licenses. */
const LAST_LICENSE_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

async function hasSubscribers(
  { eventSubscriptions }: EventDependencies,
  client: PoolClient,
): Promise<boolean> {
  return (
    (await eventSubscriptions.has(client, 'license.expired')) ||
    eventSubscriptions.has(client, 'license.status_changed')
  );
}

async function describeTransitions(
  client: PoolClient,
  transitions: readonly StatusTransition[],
): Promise<LicenseEvent[]> {
  const ids = new Set(transitions.map(({ licenseId }) => licenseId));
  const licenses = await listLicensesByIds(client, [...ids]);
  const byId = new Map(licenses.map((license) => [license.id, license]));
  const recorded = new Set((await listRecordedTransitions(client, transitions)).map(keyOf));
  return transitions
    .filter((transition) => !recorded.has(keyOf(transition)))
    .flatMap((transition) => describe(byId.get(transition.licenseId), transition));
}

function describe(
  license: LicenseRecord | undefined,
  transition: StatusTransition,
): LicenseEvent[] {
  const { at } = transition;
  if (license === undefined || license.createdAt >= at) return [];
  const event = describeTransition(license, at);
  if (event === null) return [];
  return [{ ...event, license, occurredAt: at, messageId: messageIdOf(transition) }];
}

/** Deterministic, so that a transition is recorded only once; sorts by time like all message ids. */
function messageIdOf(transition: StatusTransition): string {
  const time = transition.at.getTime().toString(16).padStart(12, '0');
  return `msg_${time}${hash('sha256', keyOf(transition)).slice(0, 20)}`;
}

function keyOf({ at, licenseId }: StatusTransition): string {
  return `${licenseId} ${at.toISOString()}`;
}
