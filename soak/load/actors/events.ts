import { EventBatchResponse } from '@latchkey/contract';
import { Parse } from 'typebox/value';

import { chooseMachine, installOf, type LoadContext } from './actor.ts';

const NAMES = ['app_started', 'document_opened', 'export_finished', 'settings_changed'] as const;

const LARGEST_BATCH = 15;

/** Every tenth batch is sent again after its answer, as by a client that lost it. */
const REPEATED_EVERY = 10;

/** Returns the number of events of a batch: 1 to 15. */
export function sizeOfBatch(batch: number): number {
  return 1 + ((batch * 7) % LARGEST_BATCH);
}

/** Returns the id of an event, by its batch and its position. */
export function idOfEvent(batch: number, position: number): string {
  return `50a40000-${String(position).padStart(4, '0')}-4000-8000-${String(batch).padStart(12, '0')}`;
}

/** Sends a batch of events until it is acknowledged. */
export async function sendEvents(
  context: LoadContext,
  batch: number,
  dueAt: number,
): Promise<void> {
  const { client, ledger } = context;
  const machine = chooseMachine(batch, context.machines);
  const body = writeBatch(batch, machine);
  const request = { path: '/api/v1/events', body, client: machine };
  const answer = await client.sendUntilAnswered(
    'events',
    () => ({ ...request, dueAt }),
    ({ acknowledgement, text }) => {
      if (acknowledgement === 'acknowledged') requireCounts(context, batch, text);
      ledger.eventBatches.record(batch, acknowledgement);
    },
  );
  if (answer.acknowledgement !== 'acknowledged' || batch % REPEATED_EVERY !== 0) return;
  const again = await client.send('events', request);
  if (again.acknowledgement === 'acknowledged') requireCounts(context, batch, again.text);
}

function writeBatch(batch: number, machine: number): string {
  const occurredAt = new Date().toISOString();
  return JSON.stringify({
    install_id: installOf(machine),
    session_id: idOfEvent(batch, 9_999),
    app_version: '2.4.0',
    os_version: '15.1',
    events: Array.from({ length: sizeOfBatch(batch) }, (_, position) => ({
      event_id: idOfEvent(batch, position),
      name: NAMES[position % NAMES.length],
      occurred_at: occurredAt,
      props: { plan: 'pro' },
    })),
  });
}

/** New events are accepted, acknowledged ones are duplicates; a batch without an answer may be either. */
function requireCounts({ ledger, violations }: LoadContext, batch: number, text: string): void {
  const { accepted, dropped } = Parse(EventBatchResponse, JSON.parse(text));
  const size = sizeOfBatch(batch);
  if (accepted + dropped !== size) {
    violations.add(
      `of ${size} events, ${accepted} were reported as accepted and ${dropped} as dropped`,
    );
  }
  const expected = expectAccepted(ledger.eventBatches, batch, size);
  if (expected.includes(accepted)) return;
  violations.add(`${accepted} events of a batch were accepted, not ${expected.join(' or ')}`);
}

function expectAccepted(
  batches: LoadContext['ledger']['eventBatches'],
  batch: number,
  size: number,
): readonly number[] {
  if (batches.isAcknowledged(batch)) return [0];
  return batches.isPossible(batch) ? [0, size] : [size];
}
