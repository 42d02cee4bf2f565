import { fileURLToPath } from 'node:url';
import { Type, type Static } from 'typebox';
import { Value } from 'typebox/value';

import { expectSuccess } from './commands.ts';
import { MACHINE_ADDRESS } from './machine.ts';
import type { Place } from './place.ts';

const Answer = Type.Object({
  /** The HTTP status, 101 for a stream that sent data; 0 when the connection ended before. */
  status: Type.Integer(),
  type: Type.String(),
  /** The body, the first snapshot of a stream, or the code of what ended the connection. */
  text: Type.String(),
  /** Of the server's certificate. */
  serial: Type.String(),
  /** The last TLS session of the server, in base64; empty without one. */
  session: Type.String(),
});
export type Answer = Static<typeof Answer>;

/** What a client presents and trusts, in PEM. */
export interface Credentials {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** How a client connects, beside its certificates. */
interface Manner {
  readonly maxVersion?: 'TLSv1.2' | 'TLSv1.3';
  /** A TLS session to resume, in base64. */
  readonly session?: string;
  /** Watches a stream until it ends; the answer then is why. */
  readonly watchesToEnd?: boolean;
}

export interface Question extends Credentials, Manner {
  readonly url: string;
  readonly address: string;
}

const program = fileURLToPath(new URL('outsider.ts', import.meta.url));

/** Sends a request to a machine from outside, whatever the name in the address; `wss:` connects a viewer of the stream. */
export async function ask(
  place: Place,
  url: string,
  credentials: Credentials & Manner = {},
): Promise<Answer> {
  const question: Question = { url, address: MACHINE_ADDRESS, ...credentials };
  const command = [process.execPath, program, JSON.stringify(question)];
  const outcome = expectSuccess(await place.attemptInNetwork(command));
  return Value.Parse(Answer, JSON.parse(outcome.stdout));
}
