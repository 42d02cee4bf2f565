import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { send, type Outcome } from './recorded-load.ts';

/** Clients that send events until they are stopped. */
export interface RecordedEvents extends AsyncDisposable {
  /** The ids of events with the response 200. */
  readonly acknowledged: readonly string[];
  /** The ids of events whose last request got no response 200, and which may be stored. */
  readonly unanswered: readonly string[];
  readonly outcomes: readonly Outcome[];
  /** Ends the load after the last request of every client. */
  stop(): Promise<void>;
}

const EVENTS_PER_BATCH = 5;
const PAUSE_MS = 20;

interface Recording {
  readonly acknowledged: string[];
  readonly unanswered: string[];
  readonly outcomes: Outcome[];
  stopped: boolean;
}

/** Runs clients that send batches of events in a loop, and each batch again until it is acknowledged. */
export function startRecordedEvents(url: string, clients: number): RecordedEvents {
  const recording: Recording = { acknowledged: [], unanswered: [], outcomes: [], stopped: false };
  const running = Promise.all(Array.from({ length: clients }, () => runClient(url, recording)));
  const stop = async (): Promise<void> => {
    recording.stopped = true;
    await running;
  };
  return { ...recording, stop, [Symbol.asyncDispose]: stop };
}

async function runClient(url: string, recording: Recording): Promise<void> {
  while (!recording.stopped) {
    const events = Array.from({ length: EVENTS_PER_BATCH }, createEvent);
    const isStored = await sendUntilStored(url, events, recording);
    const ids = events.map((event) => event.event_id);
    (isStored ? recording.acknowledged : recording.unanswered).push(...ids);
    await sleep(PAUSE_MS);
  }
}

/** Returns false when the load ends first. */
async function sendUntilStored(
  url: string,
  events: readonly object[],
  recording: Recording,
): Promise<boolean> {
  const body = { install_id: randomUUID(), session_id: randomUUID(), app_version: '1.0', events };
  for (;;) {
    const outcome = await send(url, '/api/v1/events', body);
    recording.outcomes.push(outcome);
    if (outcome.status === 200) return true;
    if (recording.stopped) return false;
    await sleep(PAUSE_MS);
  }
}

function createEvent() {
  return { event_id: randomUUID(), name: 'app_started', occurred_at: new Date().toISOString() };
}
