import { type Static, Type } from 'typebox';
import { AgentHost } from './agent-host.ts';
import { amount, object, ratio } from './agent-schema.ts';
import { AgentSnapshot } from './agent-snapshot.ts';
import { dateTime, oneOf } from './schema.ts';

/*
 * The messages of the agent's WebSocket: one JSON value in each text message, in the negotiated subprotocol.
 */

const { Optional, Array: List } = Type;

/** The metrics of one interval before the viewer connected, for charts. */
export const AgentHistoryPoint = object(
  {
    time: dateTime(),
    cpu_usage_ratio: Optional(ratio('As in a snapshot.')),
    load_1m: Optional(amount('As in a snapshot.')),
    memory_usage_ratio: Optional(ratio('As in a snapshot.')),
    disk_read_bytes_per_second: Optional(amount('Of all disks; each byte is counted once.')),
    disk_write_bytes_per_second: Optional(amount('Of all disks.')),
    receive_bytes_per_second: Optional(amount('Of the whole machine.')),
    transmit_bytes_per_second: Optional(amount('Of the whole machine.')),
  },
  'AgentHistoryPoint',
);
export type AgentHistoryPoint = Static<typeof AgentHistoryPoint>;

/** `latchkey.snapshot.v1`: the first message. */
export const AgentHello = object(
  {
    type: Type.Literal('hello'),
    schema_version: Type.Literal(1, {
      description:
        'Fields may be added to a version; a changed meaning of a field needs a new version.',
    }),
    agent_version: Type.String(),
    interval_seconds: Type.Integer({ minimum: 1, description: 'Seconds between two snapshots.' }),
    host: AgentHost,
    history: List(AgentHistoryPoint, { maxItems: 300, description: 'Oldest first.' }),
  },
  'AgentHello',
);
export type AgentHello = Static<typeof AgentHello>;

/** `latchkey.snapshot.v1`: every message after the first. */
export const AgentSnapshotMessage = object(
  { type: Type.Literal('snapshot'), snapshot: AgentSnapshot },
  'AgentSnapshotMessage',
);
export type AgentSnapshotMessage = Static<typeof AgentSnapshotMessage>;

const value = object({ value: Type.Number() });

/** `latchkey.vector.v1`: one metric in each message, as Vector encodes those of its source `host_metrics`. */
export const AgentVectorEvent = object(
  {
    name: Type.String(),
    namespace: Type.Literal('host'),
    tags: Type.Record(Type.String(), Type.String(), { description: 'Sorted by name.' }),
    timestamp: dateTime(),
    kind: Type.Literal('absolute'),
    counter: Optional(value),
    gauge: Optional(value),
  },
  'AgentVectorEvent',
);
export type AgentVectorEvent = Static<typeof AgentVectorEvent>;

const nanoseconds = Type.String({
  pattern: '^[0-9]+$',
  description: 'Nanoseconds since 1970; 64 bits.',
});

const Attribute = object({
  key: Type.String(),
  value: object({ stringValue: Optional(Type.String()), intValue: Optional(Type.Integer()) }),
});

const DataPoint = object({
  attributes: List(Attribute),
  startTimeUnixNano: nanoseconds,
  timeUnixNano: nanoseconds,
  asDouble: Type.Number(),
});

const Metric = object({
  name: Type.String(),
  description: Type.String(),
  unit: Type.String(),
  gauge: Optional(object({ dataPoints: List(DataPoint) })),
  sum: Optional(
    object({
      aggregationTemporality: Type.Literal(2, { description: 'Cumulative.' }),
      isMonotonic: Type.Boolean(),
      dataPoints: List(DataPoint),
    }),
  ),
});

/** `latchkey.otlp-json.v1`: one OTLP metrics request in each message, as sent to a collector. */
export const AgentOtlpRequest = object(
  {
    resourceMetrics: List(
      object({
        resource: object({ attributes: List(Attribute), droppedAttributesCount: Type.Integer() }),
        scopeMetrics: List(
          object({
            scope: object({ name: Type.String(), version: Type.String() }),
            metrics: List(Metric),
            schemaUrl: Type.String(),
          }),
        ),
      }),
    ),
  },
  'AgentOtlpRequest',
);
export type AgentOtlpRequest = Static<typeof AgentOtlpRequest>;

/** The subprotocols that a viewer may offer in `Sec-WebSocket-Protocol`; the first one is the default. */
export const AgentSubprotocol = oneOf([
  'latchkey.snapshot.v1',
  'latchkey.vector.v1',
  'latchkey.otlp-json.v1',
  'latchkey.brief.v1',
]);
export type AgentSubprotocol = Static<typeof AgentSubprotocol>;
