import { fileURLToPath } from 'node:url';
import { Type, type Static } from 'typebox';
import { Value } from 'typebox/value';

import { expectSuccess } from './commands.ts';
import { MACHINE_ADDRESS } from './machine.ts';
import type { Place } from './place.ts';

const Sight = Type.Object({
  /** Of HTTP, 101 for an open stream; 0 when the connection ended before. */
  status: Type.Integer(),
  /** The first message, the body of a refusal, or the code of what ended the connection. */
  text: Type.String(),
});
export type Sight = Static<typeof Sight>;

export interface ViewerOptions {
  readonly url: string;
  readonly address: string;
  /** What the server's certificate must come from. */
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
}

const program = fileURLToPath(new URL('viewer.ts', import.meta.url));

/** Connects a real viewer to a machine, from the network beside it. */
export async function view(place: Place, options: Omit<ViewerOptions, 'address'>): Promise<Sight> {
  const all: ViewerOptions = { ...options, address: MACHINE_ADDRESS };
  const command = [process.execPath, program, JSON.stringify(all)];
  const outcome = expectSuccess(await place.attemptInNetwork(command));
  return Value.Parse(Sight, JSON.parse(outcome.stdout));
}
