import {
  DEFAULT_EXTRA_MOVES,
  DEFAULT_MOVE_DAYS,
  type CatalogMoves,
} from '#server/config/catalog-model.ts';

const DAY_MS = 86_400_000;

/** How many different machines a license may be activated on within a period. */
export interface MoveAllowance {
  readonly limit: number;
  readonly days: number;
  /** The beginning of the period that ends now. */
  readonly since: Date;
}

/**
 * Without this limit, one place could be passed from machine to machine, each keeping a token that is valid offline.
 * @param moves the rule of the license's product; undefined when the product left the catalogue
 */
export function readMoveAllowance(
  { maxActivations }: { readonly maxActivations: number },
  moves: CatalogMoves | undefined,
  now: Date,
): MoveAllowance {
  const { extra, days } = moves ?? { extra: DEFAULT_EXTRA_MOVES, days: DEFAULT_MOVE_DAYS };
  const since = new Date(now.getTime() - days * DAY_MS);
  return { limit: maxActivations + extra, days, since };
}

/** Returns when a move leaves the period, and another one becomes possible. */
export function endOfMove(movedAt: Date, { days }: MoveAllowance): Date {
  return new Date(movedAt.getTime() + days * DAY_MS);
}
