import { Type, type Static } from 'typebox';
import { Parse } from 'typebox/value';

import { StartupError } from '#server/config/startup-error.ts';
import { messageOf } from '#server/lib/unknown-values.ts';

/** The version of the messages between supervisor and workers; a worker of another one refuses to start. */
const PROTOCOL = 1;

const AssignmentText = Type.Object({
  protocol: Type.Integer(),
  number: Type.Integer(),
  isFirst: Type.Boolean(),
  /** The embedded database, which the supervisor runs; null: DATABASE_URL. */
  embedded: Type.Union([
    Type.Object({
      host: Type.String(),
      port: Type.Integer(),
      user: Type.String(),
      database: Type.String(),
    }),
    Type.Null(),
  ]),
});

/** What the supervisor passes to a new worker. */
export type WorkerAssignment = Omit<Static<typeof AssignmentText>, 'protocol'>;

/** The variable with the worker's assignment, as JSON; the worker removes it. */
export const ASSIGNMENT_VARIABLE = 'LATCHKEY_WORKER_ASSIGNMENT';

export function renderAssignment(assignment: WorkerAssignment): string {
  return JSON.stringify({ protocol: PROTOCOL, ...assignment });
}

/**
 * Reads the assignment of this worker.
 * @throws StartupError when the supervisor is of a version with other messages
 */
export function readAssignment(text: string): WorkerAssignment {
  const assignment = parseAssignment(text);
  if (assignment.protocol === PROTOCOL) return assignment;
  throw new StartupError([
    'This version cannot replace the running one worker by worker: restart the whole service.',
  ]);
}

function parseAssignment(text: string): Static<typeof AssignmentText> {
  try {
    return Parse(AssignmentText, JSON.parse(text));
  } catch (error) {
    const sentence = `${ASSIGNMENT_VARIABLE} is set by serve --workers alone (${messageOf(error)}): remove it from the environment.`;
    throw new StartupError([sentence], { cause: error });
  }
}
