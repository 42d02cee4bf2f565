import { EventQueue } from './events/event-queue.ts';
import { memoryEventStore, type EventStore } from './events/event-store.ts';
import { createEvent } from './events/event.ts';
import { flushEvents } from './events/flush.ts';
import type { Events } from './events/tracker.ts';
import { randomUuid } from './events/uuid.ts';

export { memoryEventStore, type EventStore } from './events/event-store.ts';
export type { Events } from './events/tracker.ts';

/** Lets a client track events. @param store where they wait; default: memory */
export function events(store: EventStore = memoryEventStore()): Events {
  return {
    connect(host) {
      const { now, report, versions } = host.parts;
      const queue = new EventQueue(store, report);
      const session = randomUuid();
      // They were tracked before it could be read that the user does not share usage, in this run or in an earlier one.
      const clearRefused = (): void => {
        if (host.kept.sharing === false) queue.clearUnlessEmpty();
      };
      host.onRead = clearRefused;
      clearRefused();
      return {
        get dropped() {
          return queue.dropped;
        },
        track(name, props) {
          const event = createEvent(name, props, now());
          if (event !== null) queue.add({ ...event, session, app: versions.app_version });
        },
        flush: () => flushEvents(host, queue),
        clear: () => queue.clear(),
      };
    },
  };
}
