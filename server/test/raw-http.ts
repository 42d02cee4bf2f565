import { once } from 'node:events';
import { connect } from 'node:net';

import { eventually } from './eventually.ts';

/** A TCP connection to a service. */
export interface RawConnection extends Disposable {
  send(bytes: string | Buffer): void;
  /** Everything received so far. */
  readonly received: string;
  /** Counts the responses whose first line was received. */
  countAnswers(): number;
  /** Waits for that many responses, and returns everything received. */
  waitForAnswers(count: number, timeoutMs?: number): Promise<string>;
  /** Waits until the service closes the connection, and returns everything received. */
  waitForClose(timeoutMs?: number): Promise<string>;
}

const TIMEOUT_MS = 20_000;

/** Connects to a service. */
export async function openRawConnection(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  let isClosed = false;
  const counter = new AnswerCounter();
  socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
  socket.on('close', () => (isClosed = true));
  await once(socket, 'connect');
  // A reset connection counts as closed.
  socket.on('error', () => {});

  async function waitUntil(condition: () => boolean, what: string, timeoutMs: number) {
    await eventually(condition, {
      timeoutMs,
      describe: () => `${what}: ${received.slice(-2_000)}`,
    });
    return received;
  }
  return {
    send: (bytes) => void socket.write(bytes),
    get received() {
      return received;
    },
    countAnswers: () => counter.count(received),
    waitForAnswers: (count, timeoutMs = TIMEOUT_MS) =>
      waitUntil(() => counter.count(received) >= count, `fewer than ${count} answers`, timeoutMs),
    waitForClose: (timeoutMs = TIMEOUT_MS) => waitUntil(() => isClosed, 'not closed', timeoutMs),
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** Formats a request. */
export function renderPost(path: string, body: unknown): string {
  const text = JSON.stringify(body);
  const length = Buffer.byteLength(text);
  return `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${text}`;
}

const ANSWER_START = 'HTTP/1.1 ';

/** Counts the responses in a growing text and reads each part once. */
class AnswerCounter {
  #count = 0;
  #position = 0;

  count(text: string): number {
    for (;;) {
      const start = text.indexOf(ANSWER_START, this.#position);
      if (start === -1) return this.#count;
      this.#position = start + ANSWER_START.length;
      this.#count += 1;
    }
  }
}

/** Counts the responses by status, or by code if they are problems. */
export function tallyAnswers(received: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of received.split(ANSWER_START).slice(1)) {
    const [, code] = /"code":"(\w+)"/u.exec(answer) ?? [];
    const name = code ?? answer.slice(0, 3);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
