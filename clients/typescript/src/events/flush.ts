import type { EventBatch } from '@latchkey/contract';

import { noResponse, type Answer, type NoResponse } from '../answers/answer.ts';
import { noAnswer, refuse } from '../answers/results.ts';
import type { EventQueue } from './event-queue.ts';
import type { QueuedEvent } from './event.ts';
import type { Flushed } from './flushed.ts';
import { hasFaults, readIngestion } from './ingestion.ts';
import type { EventHost } from './tracker.ts';

/** The service's limit. */
const MAX_BATCH = 500;

/** Sends the events that wait, in batches. Without an answer they go on waiting, under the same ids. */
export async function flushEvents(host: EventHost, queue: EventQueue): Promise<Flushed> {
  const { now, report, service } = host.parts;
  let limit = MAX_BATCH;
  let sent = 0;
  let rejected = 0;
  for (;;) {
    // Each time, because the user may stop sharing, or have the id erased, while a batch is sent.
    const { installId, sharing } = host.kept;
    if (host.isUnread || sharing !== true || installId === null) return refuse('sharing_off');
    const batch = queue.nextBatch(limit, now());
    if (batch.length === 0) return { ok: true, sent, rejected };
    const outcome = judge(await service.post('/api/v1/events', describe(host, installId, batch)));
    if (outcome === 'too_large' && batch.length > 1) {
      limit = Math.floor(batch.length / 2);
    } else if (outcome === 'stored') {
      queue.remove(batch);
      sent += batch.length;
    } else if (typeof outcome === 'string') {
      queue.drop(batch);
      rejected += batch.length;
      report({
        code: 'events_rejected',
        message: `the service rejected ${batch.length} events, the first one named ${batch[0]?.name}`,
      });
    } else return noAnswer(outcome);
  }
}

/** Decides what happens to a batch. A page of a portal or of a proxy is no answer, whatever its status. */
function judge(answer: Answer): 'stored' | 'too_large' | 'rejected' | NoResponse {
  if (answer.kind === 'success') {
    return readIngestion(answer.body) === null
      ? noResponse('portal', 'JSON of another shape', 200)
      : 'stored';
  }
  if (answer.status === 413) return 'too_large';
  const isRejected = answer.kind === 'problem' || (answer.status === 422 && hasFaults(answer.body));
  return isRejected ? 'rejected' : answer;
}

function describe(
  { parts }: EventHost,
  installId: string,
  events: readonly QueuedEvent[],
): EventBatch {
  const [first] = events;
  const { os_version: osVersion } = parts.versions;
  return {
    install_id: installId,
    session_id: first?.session ?? '',
    app_version: first?.app ?? '',
    ...(osVersion === undefined ? {} : { os_version: osVersion }),
    events: events.map(({ id, name, at, props }) => ({
      event_id: id,
      name,
      occurred_at: at,
      props: { ...props },
    })),
  };
}
