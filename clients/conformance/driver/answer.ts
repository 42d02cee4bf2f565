import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/schema';

const nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

const TIME = Type.String({ pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$` });

/** The state of a client: what the program may do, and why. */
const State = Type.Object(
  {
    may_run: Type.Boolean(),
    kind: Type.Enum(['licensed', 'trial', 'none', 'ended', 'refused']),
    reason: nullable(Type.String()),
    tier: nullable(Type.String()),
    features: Type.Array(Type.String()),
    until: nullable(TIME),
    days_left: nullable(Type.Integer()),
    source: Type.Enum(['service', 'kept']),
    last_answer_at: nullable(TIME),
    clock_went_back: Type.Boolean(),
  },
  { additionalProperties: false },
);

const Machine = Type.Object({
  activation_id: Type.String(),
  is_active: Type.Boolean(),
  is_this: Type.Boolean(),
});

/** The outcome of a call. */
const Result = Type.Object({
  ok: Type.Boolean(),
  code: Type.Optional(Type.String()),
  cause: Type.Optional(
    Type.Enum(['dns', 'connection', 'tls', 'proxy', 'timeout', 'portal', 'busy']),
  ),
  max: Type.Optional(Type.Integer()),
  current: Type.Optional(Type.Integer()),
  available_at: Type.Optional(TIME),
  machines: Type.Optional(Type.Array(Machine)),
  request: Type.Optional(Type.String()),
});

/** An answer of a driver; which fields it has depends on the command. */
export const Answer = Type.Object({
  state: Type.Optional(State),
  result: Type.Optional(Result),
  problems: Type.Optional(Type.Array(Type.Enum(['file_damaged', 'folder_unwritable']))),
  unsupported: Type.Optional(Type.Boolean()),
  verdict: Type.Optional(Type.String()),
  key: Type.Optional(nullable(Type.String())),
  text: Type.Optional(Type.String()),
  machine_id: Type.Optional(nullable(Type.String())),
  steps: Type.Optional(
    Type.Array(Type.Object({ now_ms: Type.Integer(), clock_went_back: Type.Boolean() })),
  ),
  client: Type.Optional(Type.String()),
  version: Type.Optional(Type.String()),
  supports: Type.Optional(Type.Array(Type.String())),
});

export type Answer = Static<typeof Answer>;

const validator = Compile(Answer);

/** Parses a line of a driver. @throws Error if it has another form than the protocol requires */
export function parseAnswer(line: string): Answer {
  const json: unknown = parseJson(line);
  if (validator.Check(json)) return json;
  const [, errors] = validator.Errors(json);
  const faults = errors.map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
  throw new Error(`the answer has another form than the protocol: ${faults.join(', ')}: ${line}`);
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`a line on standard output is no JSON: ${line}`);
  }
}
