import type { AgentGpu } from '@latchkey/contract';

import { type Collector, every } from '../../collector.ts';
import type { BackgroundReader } from '../../read/background-reader.ts';
import { canSleep, isAsleep, Rest } from './power.ts';
import type { Roots } from '../../roots.ts';
import { openAmdReader } from './amd.ts';
import { type Card, type Figures, type FiguresReader, listCards } from './cards.ts';
import { openIntelReader } from './intel.ts';
import { FRESH_INTERVALS } from './tool.ts';

/** Cards are looked for again this often. */
const LOOK_INTERVAL_MS = 10_000;

/** A card that does less has nothing to do. */
const IDLE_RATIO = 0.01;

interface CardCollector {
  collect(atMs: number): AgentGpu;
  close(): void;
}

/**
 * AMD's and Intel's cards, from what their drivers say in /sys/class/drm.
 * @param leftAlone has the directories of the cards that are not asked for a while, so that they can fall asleep
 */
export function openDrmCollector(
  roots: Roots,
  reader: BackgroundReader,
  intervalMs: number,
  leftAlone: Set<string>,
): Collector<AgentGpu[]> {
  const isLookDue = every(LOOK_INTERVAL_MS);
  let cards: ReadonlyMap<string, CardCollector> = new Map();
  return {
    collect(atMs) {
      if (isLookDue(atMs))
        cards = look(roots, cards, (card) =>
          openCardCollector(card, reader, intervalMs, leftAlone),
        );
      return cards.size === 0 ? null : [...cards.values()].map((card) => card.collect(atMs));
    },
    close: () => cards.forEach((card) => card.close()),
  };
}

/** The cards there are now; those that were there before keep what they were compared with. */
function look(
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

/** A card that sleeps is not woken up, and one with nothing to do is left alone now and then so that it can. */
function openCardCollector(
  card: Card,
  reader: BackgroundReader,
  intervalMs: number,
  leftAlone: Set<string>,
): CardCollector {
  const rest = new Rest();
  let figures: FiguresReader | null = null;
  let last: Figures = {};
  let lastAtMs = Number.NEGATIVE_INFINITY;

  /** What it said before it slept is not to be compared with. */
  function close(): void {
    figures?.close();
    figures = null;
    leftAlone.delete(card.device);
  }

  function read(atMs: number): void {
    figures ??= card.driver === 'amdgpu' ? openAmdReader(card, reader) : openIntelReader(card);
    [last, lastAtMs] = [figures.read(atMs), atMs];
    const { awake_ratio: awake = 1, usage_ratio: usage = awake } = last;
    rest.note(usage < IDLE_RATIO && canSleep(card.device), atMs);
  }

  return {
    collect(atMs) {
      if (isAsleep(card.device)) {
        rest.noteSleep();
        close();
        return { ...card.facts, asleep: true };
      }
      if (!rest.isResting(atMs)) read(atMs);
      if (rest.isResting(atMs)) leftAlone.add(card.device);
      else leftAlone.delete(card.device);
      const isFresh = atMs - lastAtMs <= FRESH_INTERVALS * intervalMs;
      return isFresh ? { ...card.facts, ...last } : card.facts;
    },
    close,
  };
}
