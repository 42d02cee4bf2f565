import { setTimeout as sleep } from 'node:timers/promises';

import {
  closeConnections,
  openConnections,
  openWarmConnections,
  type HttpConnection,
  type ConnectionPlan,
  type SignedBody,
} from './http-connection.ts';
import { Recorder, type LoadResult } from './recorder.ts';

/** A load and its duration. */
export interface LoadPlan extends ConnectionPlan {
  readonly seconds: number;
}

/** Sends requests in a closed loop: each connection sends the next one after an answer. */
export async function runClosedLoop(plan: LoadPlan): Promise<LoadResult> {
  const connections = await openWarmConnections(plan);
  const recorder = new Recorder();
  let stopped = false;
  for (const connection of connections) {
    const sendNext = (): void => {
      if (stopped) return;
      const sentAt = performance.now();
      connection.send(plan.nextBody(), (status) => {
        recorder.add(performance.now() - sentAt, status);
        sendNext();
      });
    };
    sendNext();
  }
  const result = await recorder.recordFor(plan.seconds);
  stopped = true;
  await closeConnections(connections);
  return result;
}

/**
 * Sends requests at a fixed rate (open loop). Latency counts from the time at which a request was due, so it includes
 * the wait for a free connection, and a stalled service is visible.
 */
export async function runOpenLoop(
  plan: LoadPlan & { readonly requestsPerSecond: number },
): Promise<LoadResult> {
  const connections = await openWarmConnections(plan);
  const recorder = new Recorder();
  const free = [...connections];
  const due: number[] = [];
  const sendDue = (): void => {
    while (due.length > 0 && free.length > 0) {
      const connection = free.pop();
      const dueAt = due.shift();
      if (connection === undefined || dueAt === undefined) return;
      connection.send(plan.nextBody(), (status) => {
        recorder.add(performance.now() - dueAt, status);
        free.push(connection);
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
  // Waits for pending requests, so that a stall at the end counts; unanswered ones count as failed.
  await sleep(DRAIN_MS);
  const unanswered = due.length + (connections.length - free.length);
  await closeConnections(connections);
  return { ...result, failures: result.failures + unanswered };
}

/** The result of a burst. */
export interface BurstResult {
  /** The longest time until an answer, in ms. */
  readonly max: number;
  /** The number of retries after 503. */
  readonly sentAgain: number;
}

/**
 * Sends requests as fast as possible, each until it is answered with 200; retries a 503 after a second, as the provider
 * does.
 */
export async function runBurst(plan: ConnectionPlan, requests: number): Promise<BurstResult> {
  const connections = await openConnections(plan);
  let left = requests;
  let max = 0;
  let sentAgain = 0;
  const sendUntilTaken = async (
    connection: HttpConnection,
    request: string | SignedBody,
  ): Promise<void> => {
    for (;;) {
      const sentAt = performance.now();
      const status = await new Promise<number>((resolve) => connection.send(request, resolve));
      max = Math.max(max, performance.now() - sentAt);
      if (status === 200) return;
      if (status !== 503) throw new Error(`a request of the burst was answered with ${status}`);
      sentAgain++;
      await sleep(1_000);
    }
  };
  await Promise.all(
    connections.map(async (connection) => {
      for (; left > 0;) {
        left--;
        await sendUntilTaken(connection, plan.nextBody());
      }
    }),
  );
  await closeConnections(connections);
  return { max, sentAgain };
}

const DRAIN_MS = 1_000;

/** Calls at a fixed rate, each with its due time; a late timer catches up. */
function startClock(perSecond: number, onDue: (dueAt: number) => void): () => void {
  const intervalMs = 1000 / perSecond;
  let nextAt = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    for (; nextAt <= now; nextAt += intervalMs) onDue(nextAt);
  }, 1);
  return () => clearInterval(timer);
}

/** Throws if requests failed, because the measurement would be invalid. */
export function requireNoFailures(result: LoadResult): LoadResult {
  if (result.failures === 0 && result.requests > 0) return result;
  throw new Error(`${result.failures} of ${result.requests} requests failed`);
}

/** Measures the rate of requests that are answered with 200. */
export async function measureRate(plan: LoadPlan): Promise<number> {
  return requireNoFailures(await runClosedLoop(plan)).requestsPerSecond;
}
