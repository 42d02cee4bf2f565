import { randomUUID } from 'node:crypto';

import { v7 } from 'uuid';

import type { NextBody } from './http-connection.ts';

const NAMES = ['app_started', 'document_opened', 'export_finished', 'settings_changed'];

/** Creates ids of version 7 (RFC 9562), which begin with the time. */
export const createTimeOrderedId = (): string => v7();

/**
 * Creates batches of new events, each of another install, as of a desktop program.
 * @param createEventId random ids of version 4 by default
 */
export function eventBodies(
  eventsPerBatch: number,
  createEventId: () => string = randomUUID,
): NextBody {
  return () => writeBatch(eventsPerBatch, createEventId);
}

/** Concatenates texts, because the generator shares the processors with the service. */
function writeBatch(count: number, createEventId: () => string): string {
  const now = new Date().toISOString();
  const events = Array.from({ length: count }, (_, index) =>
    writeEvent(createEventId(), index, now),
  );
  return `{"install_id":"${randomUUID()}","session_id":"${randomUUID()}","app_version":"2.4.0","os_version":"15.1","events":[${events.join(',')}]}`;
}

function writeEvent(id: string, index: number, now: string): string {
  const name = NAMES[index % NAMES.length];
  return `{"event_id":"${id}","name":"${name}","occurred_at":"${now}","props":{"plan":"pro","position":"${index}"}}`;
}

/** Creates heartbeats, many for each machine. */
export function heartbeatBodies(machines: number): NextBody {
  let count = 0;
  return () => {
    const machine = `machine-${(count++ * 7_919) % machines}`;
    return `{"machine_id":"${machine}","machine_fingerprint":{"machine_id":"${machine}","os_version":"15.1"},"app_version":"2.4.0"}`;
  };
}
