import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { WebSocket } from 'ws';

import { CertificateFixture } from '../../test/certificates.ts';
import { type Program, startProgram } from './program.ts';

/** The packaged agent, running on a port of this machine. */
export interface AgentProcess extends Program {
  readonly port: number;
  /** Disconnects the viewer until the next query. */
  disconnect(): void;
}

const PORT = 14_096;

/**
 * Starts the agent with a viewer that stays connected.
 * @param command the path of the packaged program
 */
export async function startAgent(
  command: readonly string[],
  directory: string,
): Promise<AgentProcess> {
  await using stack = new AsyncDisposableStack();
  const fixture = stack.use(new CertificateFixture());
  const { certificateFile, keyFile } = fixture.createRoot('localhost').issueServer();
  const configuration = join(directory, 'agent.yaml');
  writeFileSync(
    configuration,
    `listen: 127.0.0.1:${PORT}
tls: { certificate_file: ${certificateFile}, key_file: ${keyFile} }
limits: { connections: 2000, connections_per_address: 2000 }
`,
  );
  const viewer = stack.adopt(new Viewer(), (it) => it.close());
  const program = await startProgram({
    name: 'latchkey-agent',
    command: [...command, 'run', '--config', configuration],
    query: () => viewer.see(),
  });
  stack.use(program);
  const kept = stack.move();
  const disconnect = (): void => viewer.close();
  return { ...program, port: PORT, disconnect, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Connects at the first request for a snapshot. */
class Viewer {
  #socket: WebSocket | null = null;

  /** Waits for the next snapshot. */
  async see(): Promise<void> {
    const socket = this.#socket ?? (await this.#connect());
    await new Promise((resolve, reject) => {
      socket.once('message', resolve);
      socket.once('close', () => reject(new Error('The agent closed the connection.')));
    });
    socket.removeAllListeners('close');
  }

  close(): void {
    this.#socket?.terminate();
    this.#socket = null;
  }

  async #connect(): Promise<WebSocket> {
    const socket = new WebSocket(`wss://127.0.0.1:${PORT}/`, { rejectUnauthorized: false });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    this.#socket = socket;
    return socket;
  }
}
