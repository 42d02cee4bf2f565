import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A service under load. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Creates the next request: its body, or a body with the header fields of its signature. */
export type NextBody = () => string | SignedBody;

/** A body with additional header fields. */
export interface SignedBody {
  readonly body: string;
  /** Lines of `Name: value`, each with its line end. */
  readonly headerLines: string;
}

/** The requests, their target, and the number of connections. */
export interface ConnectionPlan {
  readonly target: Target;
  readonly path: string;
  readonly nextBody: NextBody;
  readonly connections: number;
}

/** Time for the service to process closed connections. */
const CLOSE_PAUSE_MS = 100;

/**
 * One connection with one request at a time. It uses a plain socket without an HTTP library, because the generator runs
 * on the same cores as the service.
 */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #head: string;
  #onAnswer: ((status: number) => void) | null = null;
  #received = '';

  constructor(socket: Socket, head: string) {
    this.#socket = socket;
    this.#head = head;
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => this.#receive(chunk));
    socket.on('error', () => this.#answer(0));
  }

  send(request: string | SignedBody, onAnswer: (status: number) => void): void {
    this.#onAnswer = onAnswer;
    const { body, headerLines } =
      typeof request === 'string' ? { body: request, headerLines: '' } : request;
    this.#socket.write(`${this.#head}${body.length}\r\n${headerLines}\r\n${body}`);
  }

  close(): void {
    this.#onAnswer = null;
    this.#socket.destroy();
  }

  /** An answer is complete when the body has the length of its content-length. */
  #receive(chunk: string): void {
    this.#received += chunk;
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = /content-length: (\d+)/i.exec(this.#received.slice(0, headEnd))?.[1];
    if (this.#received.length < headEnd + 4 + Number(length)) return;
    const status = Number(this.#received.slice(9, 12));
    this.#received = '';
    this.#answer(status);
  }

  #answer(status: number): void {
    const onAnswer = this.#onAnswer;
    this.#onAnswer = null;
    onAnswer?.(status);
  }
}

/**
 * Opens the connections and sends one unmeasured request through each. Node accepts one connection in each iteration of
 * its event loop, so under load the last of hundreds waits for seconds, which must not count as latency of a request.
 */
export async function openWarmConnections(plan: ConnectionPlan): Promise<HttpConnection[]> {
  const connections = await openConnections(plan);
  for (const connection of connections)
    await new Promise((resolve) => connection.send(plan.nextBody(), resolve));
  return connections;
}

/** Opens the connections. */
export async function openConnections({
  target,
  path,
  connections,
}: Omit<ConnectionPlan, 'nextBody'>): Promise<HttpConnection[]> {
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${target.host}:${target.port}`,
    'Content-Type: application/json',
    'Content-Length: ',
  ].join('\r\n');
  return Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ ...target, noDelay: true });
      await new Promise<void>((resolve, reject) => {
        socket.once('connect', resolve).once('error', reject);
      });
      return new HttpConnection(socket, head);
    }),
  );
}

/** Closes the connections. */
export async function closeConnections(connections: readonly HttpConnection[]): Promise<void> {
  for (const connection of connections) connection.close();
  await sleep(CLOSE_PAUSE_MS);
}
