import { setTimeout as sleep } from 'node:timers/promises';

import type { Acknowledgement } from '../ledger/acknowledgement.ts';
import { HttpConnection, type CutPhase, type RawAnswer } from './http-connection.ts';
import type { Operation } from './operations.ts';
import type { Ended } from './recorder.ts';

type Headers = Readonly<Record<string, string>>;

/** A request of a client. */
export interface ClientRequest {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  /** Sent as JSON; a text is sent as it is, and must be ASCII. */
  readonly body?: unknown;
  /** A function is called when the request is sent, so that a signature is not older than its request. */
  readonly headers?: Headers | (() => Headers);
  /** The number of the client, from which its address is derived. */
  readonly client: number;
  /** When the request was due; default: now. `performance.now()`. */
  readonly dueAt?: number;
}

/** The answer to a request. */
export interface Answer {
  /** As in {@link Ended}. */
  readonly outcome: string;
  readonly text: string;
  readonly acknowledgement: Acknowledgement;
}

export interface HttpClientOptions {
  readonly host: string;
  readonly port: number;
  readonly maxConnections: number;
  readonly onEnd: (ended: Ended) => void;
}

/** Connections that were unused for longer are closed, as clients do. */
const MAX_IDLE_MS = 10_000;

/** The pauses before repetitions; the last one repeats. */
const RETRY_MS = [200, 500, 1_000, 2_000] as const;
const LAST_RETRY_MS = 2_000;

/** Sends requests over a limited number of connections, and reports the outcome of each. */
export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #free: HttpConnection[] = [];
  readonly #waiting: ((connection: HttpConnection) => void)[] = [];
  #open = 0;
  #sent = 0;
  /** Set by a fault: every fourth request is cut there. */
  cutPhase: CutPhase | null = null;
  /** No request is repeated after this. */
  isEnding = false;

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#open;
  }

  /** Sends one request. Never rejects. */
  async send(operation: Operation, request: ClientRequest): Promise<Answer> {
    const begunAt = performance.now();
    const connection = await this.#take();
    const sentAt = performance.now();
    this.#sent += 1;
    const cut = this.#sent % 4 === 0 ? this.cutPhase : null;
    const raw = await connection.request(this.#write(request), cut);
    this.#release(connection);
    const outcome = describeOutcome(raw);
    const endedAt = performance.now();
    this.#options.onEnd({ operation, outcome, dueAt: request.dueAt ?? begunAt, sentAt, endedAt });
    return { outcome, text: raw.text, acknowledgement: readAcknowledgement(raw) };
  }

  /**
   * Repeats a request until the service acknowledges or refuses it, or the load ends.
   * @param createRequest its `dueAt` counts for the first attempt
   * @param onAnswer receives the answer of each attempt
   */
  async sendUntilAnswered(
    operation: Operation,
    createRequest: () => ClientRequest,
    onAnswer: (answer: Answer) => void,
  ): Promise<Answer> {
    for (let attempt = 0; ; attempt += 1) {
      const { dueAt, ...repeated } = createRequest();
      const answer = await this.send(
        operation,
        attempt === 0 && dueAt !== undefined ? { ...repeated, dueAt } : repeated,
      );
      onAnswer(answer);
      if (this.isEnding || !isWorthRepeating(answer)) return answer;
      await sleep(RETRY_MS[attempt] ?? LAST_RETRY_MS);
    }
  }

  /** Closes the connections without a request, so that the next requests need new ones. */
  closeFree(): void {
    for (const connection of this.#free) connection.destroy();
  }

  #take(): Promise<HttpConnection> {
    for (let found = this.#free.pop(); found !== undefined; found = this.#free.pop()) {
      if (found.isUsable && performance.now() - found.usedAt < MAX_IDLE_MS) {
        return Promise.resolve(found);
      }
      this.#open -= 1;
      found.destroy();
    }
    if (this.#open < this.#options.maxConnections) return Promise.resolve(this.#connect());
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #connect(): HttpConnection {
    this.#open += 1;
    return new HttpConnection(this.#options);
  }

  #release(connection: HttpConnection): void {
    const next = this.#waiting.shift();
    if (connection.isUsable) {
      if (next === undefined) this.#free.push(connection);
      else next(connection);
      return;
    }
    this.#open -= 1;
    if (next !== undefined) next(this.#connect());
  }

  #write({ method = 'POST', path, body, headers = {}, client }: ClientRequest) {
    const { host, port } = this.#options;
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    const own = typeof headers === 'function' ? headers() : headers;
    const lines = [
      `${method} ${path} HTTP/1.1`,
      `host: ${host}:${port}`,
      `x-forwarded-for: ${addressOf(client)}`,
      ...Object.entries(own).map(([name, value]) => `${name}: ${value}`),
      ...(method === 'GET'
        ? []
        : ['content-type: application/json', `content-length: ${text.length}`]),
    ];
    return { head: `${lines.join('\r\n')}\r\n\r\n`, body: text };
  }
}

/** An address of a private network for each client, since limits count by address. */
function addressOf(client: number): string {
  return `10.${(client >> 16) & 255}.${(client >> 8) & 255}.${client & 255}`;
}

function describeOutcome({ outcome, text }: RawAnswer): string {
  if (typeof outcome === 'string') return outcome;
  const code = outcome < 400 ? undefined : /"code":"(\w+)"/u.exec(text)?.[1];
  return code === undefined ? String(outcome) : `${outcome} ${code}`;
}

function readAcknowledgement({ outcome, isReceived }: RawAnswer): Acknowledgement {
  if (typeof outcome === 'string') return isReceived ? 'unanswered' : 'refused';
  if (outcome < 300) return 'acknowledged';
  // An answer of 5xx may follow a commit whose outcome the service could not learn.
  return outcome >= 500 ? 'unanswered' : 'refused';
}

/** A client repeats what was not answered, was answered 5xx or too early, or could not be sent. */
function isWorthRepeating({ acknowledgement, outcome }: Answer): boolean {
  if (acknowledgement === 'acknowledged') return false;
  return !outcome.startsWith('4') || /^(?:429|401 stale_signature)/u.test(outcome);
}
