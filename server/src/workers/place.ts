import { Type, type Static } from 'typebox';
import { Parse } from 'typebox/value';

import { StartupError } from '#server/config/startup-error.ts';
import { messageOf } from '#server/lib/unknown-values.ts';

/** The version of the messages between supervisor and workers; a worker of another one refuses to start. */
const PROTOCOL = 1;

const PlaceText = Type.Object({
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
export type WorkerPlace = Omit<Static<typeof PlaceText>, 'protocol'>;

/** The variable with the worker's place, as JSON; the worker removes it. */
export const PLACE_VARIABLE = 'LATCHKEY_WORKER_PLACE';

export function renderPlace(place: WorkerPlace): string {
  return JSON.stringify({ protocol: PROTOCOL, ...place });
}

/**
 * Reads the place of this worker.
 * @throws StartupError when the supervisor is of a version with other messages
 */
export function readPlace(text: string): WorkerPlace {
  const place = parsePlace(text);
  if (place.protocol === PROTOCOL) return place;
  throw new StartupError([
    'This version cannot replace the running one worker by worker: restart the whole service.',
  ]);
}

function parsePlace(text: string): Static<typeof PlaceText> {
  try {
    return Parse(PlaceText, JSON.parse(text));
  } catch (error) {
    const sentence = `${PLACE_VARIABLE} is set by serve --workers alone (${messageOf(error)}): remove it from the environment.`;
    throw new StartupError([sentence], { cause: error });
  }
}
