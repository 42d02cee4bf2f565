import { type Static, Type } from 'typebox';
import { AgentHost } from './agent-host.ts';
import { amount, measure, name, object, ratio } from './agent-schema.ts';
import { AgentHistoryPoint } from './agent-stream.ts';
import { dateTime, oneOf } from './schema.ts';

/*
 * The messages of `latchkey.brief.v1`, for pages that watch many machines: a few figures and the present problems, at most
 * 0.4 kB a second on average after the first message. A viewer ignores fields, types of messages and codes that it does not know.
 */

const { Optional, Array: List } = Type;

/** What is wrong. A page writes a sentence for each code. */
export const AgentNoticeCode = oneOf([
  'unit_failed',
  'disk_failing',
  'disk_prefail',
  'disk_self_test_failed',
  'disk_worn',
  'filesystem_stale',
  'filesystem_full',
  'temperature_high',
  'under_voltage',
  'throttled',
  'battery_low',
]);
export type AgentNoticeCode = Static<typeof AgentNoticeCode>;

/** A present problem of a machine. */
export const AgentNotice = object(
  {
    code: AgentNoticeCode,
    severity: oneOf(['error', 'warning'], {
      description: '`error`: something does not work, or data may be lost soon.',
    }),
    since: dateTime({
      description: 'When the agent first saw it, which it does only while somebody watches.',
    }),
    subject: Optional(
      name('The unit, disk, mount point, sensor or battery, cut to 80 characters.', '/var'),
    ),
    count: Optional(
      Type.Integer({ minimum: 2, description: 'Number of failed units; `subject` is the first.' }),
    ),
    ratio: Optional(
      amount('In steps of 0.01: of the space or charge; of the endurance, which may exceed 1.'),
    ),
    celsius: Optional(measure('The temperature in whole degrees.')),
  },
  'AgentNotice',
);
export type AgentNotice = Static<typeof AgentNotice>;

const MAX_POINTS = 300;

/** One column of the history: as many values as there are times, null where a point lacks the value. */
const column = (schema: ReturnType<typeof ratio>) =>
  Optional(List(Type.Union([schema, Type.Null()]), { maxItems: MAX_POINTS }));

/** The points of the last 300 intervals as columns, oldest first. A column without values is absent. */
export const AgentBriefHistory = object({
  time: List(dateTime(), { maxItems: MAX_POINTS }),
  cpu_usage_ratio: column(ratio('As in a point.')),
  load_1m: column(amount('As in a point.')),
  memory_usage_ratio: column(ratio('As in a point.')),
  disk_read_bytes_per_second: column(amount('As in a point.')),
  disk_write_bytes_per_second: column(amount('As in a point.')),
  receive_bytes_per_second: column(amount('As in a point.')),
  transmit_bytes_per_second: column(amount('As in a point.')),
});
export type AgentBriefHistory = Static<typeof AgentBriefHistory>;

const notices = {
  notices: Optional(
    List(AgentNotice, {
      description:
        'All present problems, errors first, then the oldest; at most 1 kB. Absent in the first message: not known yet; in others: unchanged.',
    }),
  ),
  notices_omitted: Optional(
    Type.Integer({ minimum: 1, description: 'Number of notices that did not fit.' }),
  ),
};

/** `latchkey.brief.v1`: the first message. */
export const AgentBriefHello = object(
  {
    type: Type.Literal('hello'),
    schema_version: Type.Literal(1, { description: 'As in `latchkey.snapshot.v1`.' }),
    agent_version: Type.String(),
    agent_started_at: dateTime({ description: 'The history begins here at the earliest.' }),
    interval_seconds: Type.Integer({ minimum: 1, description: 'Seconds between two points.' }),
    machine_id: Optional(
      Type.String({
        pattern: '^[0-9a-f]{32}$',
        description:
          'Identifies the installed system, whatever its name and address: derived from /etc/machine-id. Clones of a virtual machine may share it.',
      }),
    ),
    host: AgentHost,
    history: AgentBriefHistory,
    ...notices,
  },
  'AgentBriefHello',
);
export type AgentBriefHello = Static<typeof AgentBriefHello>;

/**
 * `latchkey.brief.v1`: every message after the first, one for each interval. With more than 250 such viewers, an agent sends several
 * points at once to each: 1,000 viewers get four points every four intervals.
 */
export const AgentBriefPoints = object(
  {
    type: Type.Literal('points'),
    points: List(AgentHistoryPoint, { minItems: 1, maxItems: 10, description: 'Oldest first.' }),
    ...notices,
  },
  'AgentBriefPoints',
);
export type AgentBriefPoints = Static<typeof AgentBriefPoints>;
