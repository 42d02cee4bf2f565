import type { IncomingHttpHeaders } from 'node:http';

/** Headers that providers put a part of the event into. Signatures are not among them: they would open the door again. */
const MEANINGFUL = ['webhook-id', 'webhook-timestamp', 'x-event-name'];

/** The headers without which a kept event could not be understood again. */
export function keepHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    MEANINGFUL.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}
