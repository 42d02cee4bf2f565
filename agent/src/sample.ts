import type { AgentSnapshot } from '@latchkey/contract';

import type { Clock } from './clock.ts';
import type { Collectors, Part, PartName } from './collector.ts';
import { messageOf } from './errors.ts';
import type { Log, LogEvent } from './log.ts';

/** Takes snapshots. */
export interface Sampler {
  /**
   * Runs the collectors once. Never throws: the part of a collector that fails is left out.
   * @param only the parts to collect, while the other collectors idle; default: all
   */
  sample(only?: ReadonlySet<PartName>): AgentSnapshot;
  /**
   * Resets the baselines of idle collectors before a sample: their rates would cover the whole pause.
   * @param others the collectors that were not idle
   */
  wake(others: ReadonlySet<PartName>): void;
  close(): void;
}

/** A slower collector probably waits for a hanging device, and is suspended. */
const SLOW_MS = 250;

const SUSPENSION_MS = 60_000;

/** The shortest time between two reports of one collector. */
const REPORT_INTERVAL_MS = 60_000;

const MESSAGES = {
  'collector.failed': 'collector failed',
  'collector.incomplete': 'collector returned an incomplete part',
  'collector.suspended': 'collector was too slow and is suspended for a minute',
} as const satisfies Partial<Record<LogEvent, string>>;

type CollectorEvent = keyof typeof MESSAGES;

/**
 * Opens a sampler over collectors. A collector that throws, is slow, or returns a non-finite number loses only its own part of
 * the snapshot, and is logged once a minute, as are problems that a collector reports.
 */
export function openSampler(collectors: Collectors, clock: Clock, log: Log): Sampler {
  const names = namesOf(collectors);
  const suspendedUntilMs = new Map<PartName, number>();
  const reportedAtMs = new Map<PartName, number>();
  const readWaitMs = clock.processorWaitMs ?? (() => 0);
  let waitBeforeMs = 0;

  function report(name: PartName, atMs: number, event: CollectorEvent, reason: string): void {
    const last = reportedAtMs.get(name);
    if (last !== undefined && atMs - last < REPORT_INTERVAL_MS) return;
    reportedAtMs.set(name, atMs);
    log.warn(event, MESSAGES[event], { collector: name, reason });
  }

  function runCollector<Name extends PartName>(name: Name, startedAtMs: number): Part<Name> | null {
    if (startedAtMs < (suspendedUntilMs.get(name) ?? 0)) return null;
    try {
      const part = collectors[name]?.collect(startedAtMs) ?? null;
      const nonFinitePath = findNonFinite(part);
      const problem = collectors[name]?.takeProblem?.() ?? null;
      if (problem !== null) report(name, startedAtMs, 'collector.incomplete', problem);
      if (nonFinitePath === null) return part;
      const reason = `${nonFinitePath} is not a finite number`;
      report(name, startedAtMs, 'collector.failed', reason);
    } catch (error) {
      report(name, startedAtMs, 'collector.failed', messageOf(error));
    }
    return null;
  }

  function suspendWhenSlow(name: PartName, startedAtMs: number, endedAtMs: number): void {
    if (endedAtMs - startedAtMs <= SLOW_MS) return;
    // Time in which this process waited for a processor does not count, because figures of a busy machine matter most.
    const waitMs = readWaitMs();
    const tookMs = endedAtMs - startedAtMs - (waitMs - waitBeforeMs);
    waitBeforeMs = waitMs;
    if (tookMs <= SLOW_MS) return;
    suspendedUntilMs.set(name, endedAtMs + SUSPENSION_MS);
    report(name, endedAtMs, 'collector.suspended', `it took ${Math.round(tookMs)} ms`);
  }

  function collect(wanted: readonly PartName[]): AgentSnapshot {
    const snapshot: AgentSnapshot = { time: clock.now().toISOString() };
    waitBeforeMs = readWaitMs();
    let atMs = clock.monotonicMs();
    for (const name of wanted) {
      put(snapshot, name, runCollector(name, atMs));
      const endedAtMs = clock.monotonicMs();
      suspendWhenSlow(name, atMs, endedAtMs);
      atMs = endedAtMs;
    }
    return snapshot;
  }

  return {
    sample(only) {
      if (only === undefined) return collect(names);
      const atMs = clock.monotonicMs();
      for (const name of names) if (!only.has(name)) collectors[name]?.idle?.(atMs);
      return collect(names.filter((name) => only.has(name)));
    },
    wake(others) {
      collect(names.filter((name) => !others.has(name)));
    },
    close() {
      for (const name of names) collectors[name]?.close?.();
    },
  };
}

function put<Name extends PartName>(
  snapshot: AgentSnapshot,
  name: Name,
  part: Part<Name> | null,
): void {
  if (part !== null) Object.assign(snapshot, { [name]: part });
}

function namesOf(collectors: Collectors): PartName[] {
  const names: PartName[] = [];
  for (const name in collectors) if (isPartName(collectors, name)) names.push(name);
  return names;
}

function isPartName(collectors: Collectors, name: string): name is PartName {
  return Object.hasOwn(collectors, name);
}

/**
 * Finds a number that JSON cannot represent (NaN, Infinity) and that viewers would receive as null.
 * @returns the path of the first one, such as `cores.0.usage_ratio`; null without any
 */
function findNonFinite(value: unknown, path = ''): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : path;
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, inner] of Object.entries(value)) {
    const found = findNonFinite(inner, name);
    if (found !== null) return path === '' ? found : `${path}.${found}`;
  }
  return null;
}
