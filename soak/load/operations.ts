/** The operations of the interface that the load calls. */
export const OPERATIONS = [
  'validate',
  'heartbeat',
  'events',
  'activate',
  'deactivate',
  'trial',
  'check',
  'webhook',
  'subscribe',
  'outreach',
  'list',
  'report',
] as const;
export type Operation = (typeof OPERATIONS)[number];

/** The outcome of an operation when nothing is wrong. Everything else must be allowed by a fault. */
export function isNormal(operation: Operation, outcome: string): boolean {
  return outcome === (operation === 'subscribe' ? '201' : '200');
}

/** Outcomes without a status of HTTP. */
export const NO_ANSWER = 'no answer';
export const TIMEOUT = 'timeout';
/** The client itself closed the connection, as a fault. */
export const CUT = 'cut by the client';

/** Outcomes of one message of an outreach request. */
export const MESSAGE_NOT_SENT = 'message not sent';
export const MESSAGE_UNKNOWN = 'message unknown';
