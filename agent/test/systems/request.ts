import { fileURLToPath } from 'node:url';
import { Type, type Static } from 'typebox';
import { Value } from 'typebox/value';

import { expectSuccess } from './commands.ts';
import { MACHINE_ADDRESS } from './machine.ts';
import type { Sandbox } from './sandbox.ts';

const TestResponse = Type.Object({
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
export type TestResponse = Static<typeof TestResponse>;

/** What a client presents and trusts, in PEM. */
export interface Credentials {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** How a client connects, beside its certificates. */
interface ConnectionOptions {
  readonly maxVersion?: 'TLSv1.2' | 'TLSv1.3';
  /** A TLS session to resume, in base64. */
  readonly session?: string;
  /** Watches a stream until it ends; the answer then is why. */
  readonly watchesToEnd?: boolean;
}

export interface TestRequest extends Credentials, ConnectionOptions {
  readonly url: string;
  readonly address: string;
}

const program = fileURLToPath(new URL('external-client.ts', import.meta.url));

/** Sends a request to a machine from outside, whatever the name in the address; `wss:` connects a viewer of the stream. */
export async function sendRequest(
  sandbox: Sandbox,
  url: string,
  credentials: Credentials & ConnectionOptions = {},
): Promise<TestResponse> {
  const question: TestRequest = { url, address: MACHINE_ADDRESS, ...credentials };
  const command = [process.execPath, program, JSON.stringify(question)];
  const outcome = expectSuccess(await sandbox.attemptInNetwork(command));
  return Value.Parse(TestResponse, JSON.parse(outcome.stdout));
}
