import { connect, type Socket } from 'node:net';

/** A service under load. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Makes the next request: its body, or a body with the header fields that sign it. */
export type NextBody = () => string | SignedBody;

/** A body that is sent with header fields of its own. */
export interface SignedBody {
  readonly body: string;
  /** Lines of `Name: value`, each with its line end. */
  readonly headerLines: string;
}

export interface LoadPlan {
  readonly target: Target;
  readonly path: string;
  readonly nextBody: NextBody;
  readonly connections: number;
  readonly seconds: number;
}

/** What came of a load. */
export interface LoadResult {
  readonly requestsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly requests: number;
  /** Answers other than 200, and requests that were due and had no answer in the end. */
  readonly failures: number;
}

/**
 * As many requests as the service answers: each connection sends its next one as soon as it has its answer.
 * A plain socket and no HTTP library, for the generator runs on the same cores as the service.
 */
export async function runClosedLoop(plan: LoadPlan): Promise<LoadResult> {
  const lanes = await openLanes(plan);
  const recorder = new Recorder();
  let stopped = false;
  for (const lane of lanes) {
    const sendNext = (): void => {
      if (stopped) return;
      const sentAt = performance.now();
      lane.send(plan.nextBody(), (status) => {
        recorder.add(performance.now() - sentAt, status);
        sendNext();
      });
    };
    sendNext();
  }
  const result = await recorder.recordFor(plan.seconds);
  stopped = true;
  await closeLanes(lanes);
  return result;
}

/**
 * Requests at a fixed rate, whether or not earlier ones are answered. A latency counts from the moment when the request
 * was due, so waiting for a free connection is part of it and a stalled service cannot hide behind unsent requests.
 */
export async function runOpenLoop(
  plan: LoadPlan & { readonly requestsPerSecond: number },
): Promise<LoadResult> {
  const lanes = await openLanes(plan);
  const recorder = new Recorder();
  const free = [...lanes];
  const due: number[] = [];
  const sendDue = (): void => {
    while (due.length > 0 && free.length > 0) {
      const lane = free.pop();
      const dueAt = due.shift();
      if (lane === undefined || dueAt === undefined) return;
      lane.send(plan.nextBody(), (status) => {
        recorder.add(performance.now() - dueAt, status);
        free.push(lane);
        sendDue();
      });
    }
  };
  const stopClock = startClock(plan.requestsPerSecond, (dueAt) => {
    due.push(dueAt);
    sendDue();
  });
  const result = await recorder.recordFor(plan.seconds);
  stopClock();
  // A stall at the very end must not hide: what is still due gets its time to be answered, and counts as failed else.
  await sleep(DRAIN_MS);
  const unanswered = due.length + (lanes.length - free.length);
  await closeLanes(lanes);
  return { ...result, failures: result.failures + unanswered };
}

/** What came of a burst. */
export interface BurstResult {
  /** The longest time until an answer, in ms. */
  readonly max: number;
  /** How often a request was sent again, for it was put off (503). */
  readonly sentAgain: number;
}

/**
 * So many requests as fast as they are taken, each until it is answered with 200; one that is put off is sent again after
 * a second, as its sender does.
 */
export async function runBurst(
  plan: Omit<LoadPlan, 'seconds'>,
  requests: number,
): Promise<BurstResult> {
  const lanes = await connectLanes({ ...plan, seconds: 0 });
  let left = requests;
  let max = 0;
  let sentAgain = 0;
  const sendUntilTaken = async (lane: Lane, request: string | SignedBody): Promise<void> => {
    for (;;) {
      const sentAt = performance.now();
      const status = await new Promise<number>((resolve) => lane.send(request, resolve));
      max = Math.max(max, performance.now() - sentAt);
      if (status === 200) return;
      if (status !== 503) throw new Error(`a request of the burst was answered with ${status}`);
      sentAgain++;
      await sleep(1_000);
    }
  };
  await Promise.all(
    lanes.map(async (lane) => {
      for (; left > 0;) {
        left--;
        await sendUntilTaken(lane, plan.nextBody());
      }
    }),
  );
  await closeLanes(lanes);
  return { max, sentAgain };
}

const DRAIN_MS = 1_000;

/** Calls at a fixed rate; a late timer makes up for what it missed, each call with the time it was due at. */
function startClock(perSecond: number, onDue: (dueAt: number) => void): () => void {
  const intervalMs = 1000 / perSecond;
  let nextAt = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    for (; nextAt <= now; nextAt += intervalMs) onDue(nextAt);
  }, 1);
  return () => clearInterval(timer);
}

/** Latencies of the part that counts: the first second warms up. */
class Recorder {
  #latencies: number[] = [];
  #failures = 0;

  add(latencyMs: number, status: number): void {
    this.#latencies.push(latencyMs);
    if (status !== 200) this.#failures++;
  }

  async recordFor(seconds: number): Promise<LoadResult> {
    await sleep(1000);
    this.#latencies = [];
    this.#failures = 0;
    const startedAt = performance.now();
    await sleep(seconds * 1000);
    const elapsedSeconds = (performance.now() - startedAt) / 1000;
    const sorted = Float64Array.from(this.#latencies).sort();
    const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
    return {
      requestsPerSecond: sorted.length / elapsedSeconds,
      p50: at(0.5),
      p99: at(0.99),
      max: at(1),
      requests: sorted.length,
      failures: this.#failures,
    };
  }
}

/** One connection; one request at a time. */
class Lane {
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

  /** An answer is whole when as many bytes as its content-length says follow its head. */
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
 * Opens the connections and sends a request through each: Node accepts one connection in each turn of its loop, so under
 * load the last of hundreds would wait for seconds, and a latency is to be that of a request.
 */
async function openLanes(plan: LoadPlan): Promise<Lane[]> {
  const lanes = await connectLanes(plan);
  for (const lane of lanes) await new Promise((resolve) => lane.send(plan.nextBody(), resolve));
  return lanes;
}

async function connectLanes({ target, path, connections }: LoadPlan): Promise<Lane[]> {
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
      return new Lane(socket, head);
    }),
  );
}

async function closeLanes(lanes: readonly Lane[]): Promise<void> {
  for (const lane of lanes) lane.close();
  await sleep(100);
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
