/** A license that several purchases pay: each is applied to what the ones before it left, in the order of their days. */
import { PRODUCTS } from './goods.ts';
import type { Part } from './model-purchase.ts';

/** What a license is on the last day. */
export interface LicenseState extends Part {
  /** The places of the parts that did not give all that was paid. */
  readonly unearned: readonly number[];
  /** The places of those that gave nothing. */
  readonly withoutEffect: readonly number[];
}

/** @param parts the own one, then those that renew the license in the order of their days */
export function combineParts(parts: readonly [Part, ...Part[]]): LicenseState {
  const unearned: number[] = [];
  const withoutEffect: number[] = [];
  let state: Part | null = null;
  for (const [place, part] of parts.entries()) {
    // What was paid back, or is disputed, counts as if it had not happened.
    if (isTakenBack(part)) continue;
    const isKnown = parts.slice(0, place).some(({ product }) => product === part.product);
    const next: Part | null = state === null ? part : apply(state, part, isKnown);
    if (next === null) withoutEffect.push(place);
    const isLess = next !== state && (next?.machines ?? 0) > part.machines;
    if (next === null || isLess) unearned.push(place);
    state = next ?? state;
  }
  const newest = parts.findLast(({ isDisputed }) => isDisputed) ?? parts.at(-1) ?? parts[0];
  return { ...(state ?? newest), unearned, withoutEffect };
}

export function isTakenBack({ isRefunded, isDisputed }: Part): boolean {
  return isRefunded || isDisputed;
}

/** A larger product has more features or machines, and no fewer of either. */
export function isLarger(part: Part, than: Part): boolean {
  const [level, other] = [PRODUCTS[part.product].level, PRODUCTS[than.product].level];
  if (level < other || part.machines < than.machines) return false;
  return level > other || part.machines > than.machines;
}

/**
 * Returns what a license becomes by a purchase; null: nothing changes.
 * @param isKnown whether the license had the product before: it may have lost it to a larger one since
 */
function apply(before: Part, part: Part, isKnown: boolean): Part | null {
  const isSame = before.product === part.product;
  const rest = usableUntil(before);
  const isRunning = rest === null || rest > part.periodFrom;
  if (isRunning && !isSame && isKnown && !isLarger(part, before)) return null;
  if (rest === null) return applyForGood(before, part, isSame);
  if (part.isSubscription) return takeOver(before, rest, part, isRunning);
  return isSame ? extend(before, rest, part) : upgrade(before, rest, part);
}

/** A subscription replaces what was paid before, and takes nothing away while that lasts. */
function takeOver(before: Part, rest: number, part: Part, isRunning: boolean): Part {
  const end = usableUntil(part);
  const isShorter = end !== null && end < rest;
  if (isShorter && part.canceledOn !== null) return before;
  const machines = isRunning ? Math.max(before.machines, part.machines) : part.machines;
  return { ...part, machines, end: isShorter ? rest : part.end };
}

/** The same product again: its time follows that of before. */
function extend(before: Part, rest: number, part: Part): Part {
  const end = part.end === null ? null : Math.max(rest, part.day) + part.end - part.day;
  const machines = Math.max(before.machines, part.machines);
  return { ...part, machines, end, isSubscription: isGoingOn(before, end) };
}

/** Another product begins at once. */
function upgrade(before: Part, rest: number, part: Part): Part {
  const end = part.end === null ? null : Math.max(rest, part.end);
  return { ...part, end, isSubscription: isGoingOn(before, end) };
}

function isGoingOn({ isSubscription, canceledOn }: Part, end: number | null): boolean {
  return isSubscription && canceledOn === null && end !== null;
}

/** A license without an end becomes larger only by something without an end. */
function applyForGood(before: Part, part: Part, isSame: boolean): Part | null {
  const isMore = !isSame || part.machines > before.machines;
  if (part.end === null && isMore) return part;
  return isSame && part.updates !== null ? before : null;
}

function usableUntil({ end, canceledOn }: Part): number | null {
  const ends = [end, canceledOn].filter((each) => each !== null);
  return ends.length === 0 ? null : Math.min(...ends);
}
