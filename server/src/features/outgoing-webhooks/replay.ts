import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { EndpointError, type EndpointChange, type EndpointDependencies } from './add-endpoint.ts';
import { listEndpoints, requireEndpoint } from './manage-endpoints.ts';
import { replayFailed, replayMessage, type ReplayedDeliveries } from './queries/deliveries.ts';
import type { EndpointRecord } from './queries/endpoints.ts';

type ReplayDependencies = Pick<EndpointDependencies, 'clock' | 'pool'>;

/** The deliveries to replay: of one message, or all that failed since a time. */
export type ReplaySubject = { readonly messageId: string } | { readonly failedSince: Date };

interface Replay extends EndpointChange {
  readonly subject: ReplaySubject;
  /**
   * Only to this endpoint, even if it has no delivery of the message yet; null for all endpoints with a delivery.
   */
  readonly idOrUrl: string | null;
}

interface ReplayResult {
  /** The number of scheduled deliveries, including those of disabled endpoints. */
  readonly count: number;
  readonly waiting: readonly WaitingEndpoint[];
}

/** A disabled endpoint and the number of deliveries that wait until it is enabled. */
export interface WaitingEndpoint {
  readonly endpoint: EndpointRecord;
  readonly count: number;
}

const PAGE_SIZE = 5_000;

/**
 * Schedules messages to be delivered again, with the same ids, so that receivers recognize duplicates. Writes an audit
 * entry.
 * @throws EndpointError if there is no such endpoint, or no delivery of the message
 */
export async function replayDeliveries(
  deps: ReplayDependencies,
  replay: Replay,
): Promise<ReplayResult> {
  const { idOrUrl, subject } = replay;
  const endpointId = idOrUrl === null ? null : (await requireEndpoint(deps, idOrUrl)).id;
  const replayed =
    'failedSince' in subject
      ? await replayAllFailed(deps, replay, endpointId, subject.failedSince)
      : await replayOne(deps, replay, endpointId, subject.messageId);
  return { count: sum(replayed), waiting: findWaiting(await listEndpoints(deps), replayed) };
}

async function replayOne(
  deps: ReplayDependencies,
  replay: Replay,
  endpointId: string | null,
  messageId: string,
): Promise<ReplayedDeliveries[]> {
  return inTransaction(deps.pool, async (client) => {
    const now = deps.clock.now();
    const replayed = await replayMessage(client, messageId, endpointId, now);
    if (replayed.length === 0) throw nothingToReplay();
    await insertAuditEntry(client, toAuditEntry(replay, messageId, endpointId, replayed, now));
    return replayed;
  });
}

/** Replays in pages, each in a transaction, because an outage of a busy endpoint may leave many deliveries. */
async function replayAllFailed(
  deps: ReplayDependencies,
  replay: Replay,
  endpointId: string | null,
  failedSince: Date,
): Promise<ReplayedDeliveries[]> {
  const replayed: ReplayedDeliveries[] = [];
  for (;;) {
    const page = await inTransaction(deps.pool, async (client) => {
      const now = deps.clock.now();
      const deliveries = await replayFailed(client, failedSince, endpointId, now, PAGE_SIZE);
      const entry = toAuditEntry(replay, 'failed', endpointId, deliveries, now);
      if (deliveries.length > 0) await insertAuditEntry(client, entry);
      return deliveries;
    });
    replayed.push(...page);
    if (sum(page) < PAGE_SIZE) return replayed;
  }
}

function sum(replayed: readonly ReplayedDeliveries[]): number {
  return replayed.reduce((total, { count }) => total + count, 0);
}

function findWaiting(
  endpoints: readonly EndpointRecord[],
  replayed: readonly ReplayedDeliveries[],
): WaitingEndpoint[] {
  return endpoints.flatMap((endpoint) => {
    const count = sum(replayed.filter(({ endpointId }) => endpointId === endpoint.id));
    return endpoint.disabledAt === null || count === 0 ? [] : [{ endpoint, count }];
  });
}

function toAuditEntry(
  { actor, reason }: Replay,
  subjectId: string,
  endpointId: string | null,
  replayed: readonly ReplayedDeliveries[],
  now: Date,
) {
  const details = { count: sum(replayed), endpoint_id: endpointId };
  return { actor, reason, occurredAt: now, action: 'endpoint.replay', subjectId, details };
}

function nothingToReplay(): EndpointError {
  return new EndpointError(
    'There is no delivery to replay: the log has no such message, or its endpoints were removed.',
  );
}
