import { inTransaction } from '#server/db/transaction.ts';
import { noSuch } from '#server/errors.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import type { EndpointChange, EndpointDependencies } from './add-endpoint.ts';
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

const NOTHING_TO_REPLAY =
  'There is no delivery to replay: the log has no such message, or its endpoints were removed.';

/**
 * Schedules messages to be delivered again, with the same ids, so that receivers recognize duplicates. Writes an audit
 * entry. Failed deliveries are replayed in pages, each in a transaction, because an outage of a busy endpoint may leave
 * many.
 * @throws noSuch (404) if there is no such endpoint, or no delivery of the message
 */
export async function replayDeliveries(
  deps: ReplayDependencies,
  replay: Replay,
): Promise<ReplayResult> {
  const { idOrUrl } = replay;
  const endpointId = idOrUrl === null ? null : (await requireEndpoint(deps, idOrUrl)).id;
  const replayed: ReplayedDeliveries[] = [];
  for (let isDone = false; !isDone;) {
    const page = await replayPage(deps, replay, endpointId);
    replayed.push(...page);
    isDone = 'messageId' in replay.subject || sum(page) < PAGE_SIZE;
  }
  return { count: sum(replayed), waiting: findWaiting(await listEndpoints(deps), replayed) };
}

async function replayPage(
  { clock, pool }: ReplayDependencies,
  { actor, reason, subject }: Replay,
  endpointId: string | null,
): Promise<ReplayedDeliveries[]> {
  return inTransaction(pool, async (client) => {
    const now = clock.now();
    const isMessage = 'messageId' in subject;
    const replayed = isMessage
      ? await replayMessage(client, subject.messageId, endpointId, now)
      : await replayFailed(client, subject.failedSince, endpointId, now, PAGE_SIZE);
    if (replayed.length === 0 && isMessage) throw noSuch(NOTHING_TO_REPLAY);
    if (replayed.length === 0) return replayed;
    await insertAuditEntry(client, {
      actor,
      reason,
      occurredAt: now,
      action: 'endpoint.replay',
      subjectId: isMessage ? subject.messageId : 'failed',
      details: { count: sum(replayed), endpoint_id: endpointId },
    });
    return replayed;
  });
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
