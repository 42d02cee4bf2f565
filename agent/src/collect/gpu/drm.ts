import type { AgentGpu } from '@latchkey/contract';

import { type Collector, every } from '../../collector.ts';
import type { BackgroundReader } from '../../read/background-reader.ts';
import { canSleep, isAsleep, SleepPause } from './power.ts';
import type { Roots } from '../../roots.ts';
import { openAmdReader } from './amd.ts';
import { type Card, type Figures, type FiguresReader, listCards } from './cards.ts';
import { openIntelReader } from './intel.ts';
import { FRESH_INTERVALS } from './tool.ts';

/** How often cards are searched again. */
const SCAN_INTERVAL_MS = 10_000;

/** How often the cards to leave alone are searched while they are not collected. */
const IDLE_SCAN_INTERVAL_MS = 60_000;

/** Below this usage, a card has no work. */
const IDLE_RATIO = 0.01;

interface CardCollector {
  collect(atMs: number): AgentGpu;
  close(): void;
}

/**
 * Collects AMD's and Intel's cards from /sys/class/drm.
 * @param pausedDevices receives the directories of the cards that are not read for a while, so that they can fall asleep
 */
export function openDrmCollector(
  roots: Roots,
  reader: BackgroundReader,
  intervalMs: number,
  pausedDevices: Set<string>,
): Collector<AgentGpu[]> {
  const isScanDue = every(SCAN_INTERVAL_MS);
  const isIdleScanDue = every(IDLE_SCAN_INTERVAL_MS);
  let cards: ReadonlyMap<string, CardCollector> = new Map();
  let idleDevices: readonly string[] = [];
  return {
    collect(atMs) {
      if (isScanDue(atMs))
        cards = scanCards(roots, cards, (card) =>
          openCardCollector(card, reader, intervalMs, pausedDevices),
        );
      return cards.size === 0 ? null : [...cards.values()].map((card) => card.collect(atMs));
    },
    /** Reading its sensors would keep a card awake that nobody watches. */
    idle(atMs) {
      if (isIdleScanDue(atMs)) idleDevices = listCards(roots).map(({ device }) => device);
      for (const device of idleDevices) pausedDevices.add(device);
    },
    close: () => cards.forEach((card) => card.close()),
  };
}

/** Returns the present cards; known ones keep their counters. */
function scanCards(
  roots: Roots,
  before: ReadonlyMap<string, CardCollector>,
  open: (card: Card) => CardCollector,
): ReadonlyMap<string, CardCollector> {
  const cards = new Map(
    listCards(roots).map((card) => {
      const key = JSON.stringify(card);
      return [key, before.get(key) ?? open(card)];
    }),
  );
  for (const [key, card] of before) if (!cards.has(key)) card.close();
  return cards;
}

/** Does not wake a sleeping card, and pauses a card without work so that it can fall asleep. */
function openCardCollector(
  card: Card,
  reader: BackgroundReader,
  intervalMs: number,
  pausedDevices: Set<string>,
): CardCollector {
  const pause = new SleepPause();
  let figures: FiguresReader | null = null;
  let last: Figures = {};
  let lastAtMs = Number.NEGATIVE_INFINITY;

  /** Drops the counters, which do not apply after a sleep. */
  function close(): void {
    figures?.close();
    figures = null;
    pausedDevices.delete(card.device);
  }

  function read(atMs: number): void {
    figures ??= card.driver === 'amdgpu' ? openAmdReader(card, reader) : openIntelReader(card);
    [last, lastAtMs] = [figures.read(atMs), atMs];
    const { awake_ratio: awake = 1, usage_ratio: usage = awake } = last;
    pause.update(usage < IDLE_RATIO && canSleep(card.device), atMs);
  }

  return {
    collect(atMs) {
      if (isAsleep(card.device)) {
        pause.reset();
        close();
        return { ...card.facts, asleep: true };
      }
      if (!pause.isPaused(atMs)) read(atMs);
      if (pause.isPaused(atMs)) pausedDevices.add(card.device);
      else pausedDevices.delete(card.device);
      const isFresh = atMs - lastAtMs <= FRESH_INTERVALS * intervalMs;
      return isFresh ? { ...card.facts, ...last } : card.facts;
    },
    close,
  };
}
