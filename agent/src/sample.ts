import type { AgentSnapshot } from '@latchkey/contract';

import type { Clock } from './clock.ts';
import type { Collectors, Part, PartName } from './collector.ts';
import type { Log } from './log.ts';

/** What makes snapshots. */
export interface Sampler {
  /**
   * Runs the collectors once. Never throws: what a collector cannot give is left out.
   * @param only the parts to collect, while the others rest; all of them when it is left out
   */
  sample(only?: ReadonlySet<PartName>): AgentSnapshot;
  /**
   * Asks those that rested for what the next sample is to be compared with: rates over all of a rest say nothing.
   * @param others those that did not rest
   */
  wake(others: ReadonlySet<PartName>): void;
  close(): void;
}

/** A collector that took longer has met something that hangs: it is left alone for a while. */
const SLOW_MS = 250;

const REST_MS = 60_000;

/** The same trouble is told once in this time. */
const REPORT_INTERVAL_MS = 60_000;

/**
 * Puts the collectors together. One that throws, takes long, or gives figures that are none costs its own part of the
 * snapshot and nothing else, and is logged once a minute; so is what went wrong with a part of what it gave.
 */
export function openSampler(collectors: Collectors, clock: Clock, log: Log): Sampler {
  const names = namesOf(collectors);
  const restUntilMs = new Map<PartName, number>();
  const reportedAtMs = new Map<PartName, number>();
  const readWaitMs = clock.processorWaitMs ?? (() => 0);
  let waitBeforeMs = 0;

  function report(name: PartName, problem: string, atMs: number): void {
    const last = reportedAtMs.get(name);
    if (last !== undefined && atMs - last < REPORT_INTERVAL_MS) return;
    reportedAtMs.set(name, atMs);
    log.warn(problem, { collector: name });
  }

  function ask<Name extends PartName>(name: Name, startedAtMs: number): Part<Name> | null {
    if (startedAtMs < (restUntilMs.get(name) ?? 0)) return null;
    try {
      const part = collectors[name]?.collect(startedAtMs) ?? null;
      const unsound = findUnsound(part);
      const problem = collectors[name]?.takeProblem?.() ?? null;
      if (problem !== null) report(name, `A collector gave only a part: ${problem}`, startedAtMs);
      if (unsound === null) return part;
      report(name, `A collector gave nothing: ${unsound} is no figure.`, startedAtMs);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      report(name, `A collector gave nothing: ${why}`, startedAtMs);
    }
    return null;
  }

  function restWhenSlow(name: PartName, startedAtMs: number, endedAtMs: number): void {
    if (endedAtMs - startedAtMs <= SLOW_MS) return;
    // On a busy machine it may have been this program that had to wait, which is when its figures matter most.
    const waitMs = readWaitMs();
    const tookMs = endedAtMs - startedAtMs - (waitMs - waitBeforeMs);
    waitBeforeMs = waitMs;
    if (tookMs <= SLOW_MS) return;
    restUntilMs.set(name, endedAtMs + REST_MS);
    const took = `it took ${Math.round(tookMs)} ms`;
    report(name, `A collector rests for a minute: ${took}.`, endedAtMs);
  }

  function collect(wanted: readonly PartName[]): AgentSnapshot {
    const snapshot: AgentSnapshot = { time: clock.now().toISOString() };
    waitBeforeMs = readWaitMs();
    let atMs = clock.monotonicMs();
    for (const name of wanted) {
      put(snapshot, name, ask(name, atMs));
      const endedAtMs = clock.monotonicMs();
      restWhenSlow(name, atMs, endedAtMs);
      atMs = endedAtMs;
    }
    return snapshot;
  }

  return {
    sample(only) {
      if (only === undefined) return collect(names);
      const atMs = clock.monotonicMs();
      for (const name of names) if (!only.has(name)) collectors[name]?.rest?.(atMs);
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
 * Looks for a number that JSON cannot say (NaN, Infinity), which would reach viewers as null.
 * @returns the path of the first one, such as `cores.0.usage_ratio`; null when all is well
 */
function findUnsound(value: unknown, path = ''): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : path;
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, inner] of Object.entries(value)) {
    const found = findUnsound(inner, name);
    if (found !== null) return path === '' ? found : `${path}.${found}`;
  }
  return null;
}
