import { once } from 'node:events';
import { connect } from 'node:net';

import { eventually } from './eventually.ts';

/** A connection on which anything may be sent, HTTP or not. */
export interface RawConnection extends Disposable {
  send(bytes: string | Buffer): void;
  /** All that came so far. */
  readonly received: string;
  /** How many answers began to come so far. */
  countAnswers(): number;
  /** Resolves with all that came, as soon as so many answers began. */
  waitForAnswers(count: number, patienceMs?: number): Promise<string>;
  /** Resolves with all that came, as soon as the other side has closed. */
  waitForClose(patienceMs?: number): Promise<string>;
}

const PATIENCE_MS = 20_000;

/** Connects to a service. */
export async function openRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  let isClosed = false;
  const counter = new AnswerCounter();
  socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
  socket.on('close', () => (isClosed = true));
  await once(socket, 'connect');
  // A connection that the other side resets is a closed one.
  socket.on('error', () => {});

  async function waitUntil(holds: () => boolean, what: string, patienceMs: number) {
    await eventually(holds, { patienceMs, tell: () => `${what}: ${received.slice(-2_000)}` });
    return received;
  }
  return {
    send: (bytes) => void socket.write(bytes),
    get received() {
      return received;
    },
    countAnswers: () => counter.count(received),
    waitForAnswers: (count, patienceMs = PATIENCE_MS) =>
      waitUntil(() => counter.count(received) >= count, `fewer than ${count} answers`, patienceMs),
    waitForClose: (patienceMs = PATIENCE_MS) => waitUntil(() => isClosed, 'not closed', patienceMs),
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** A request as it goes over the wire. */
export function renderPost(path: string, body: unknown): string {
  const text = JSON.stringify(body);
  const length = Buffer.byteLength(text);
  return `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${text}`;
}

const ANSWER_START = 'HTTP/1.1 ';

/** Counts the answers in a text that grows; what was counted is not read again. */
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

/** How many answers there are of each status, or of each code where the answer is a problem. */
export function tallyAnswers(received: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of received.split(ANSWER_START).slice(1)) {
    const [, code] = /"code":"(\w+)"/u.exec(answer) ?? [];
    const name = code ?? answer.slice(0, 3);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
