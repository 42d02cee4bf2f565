/** The licenses with refused requests on a day. */
interface RefusedDay {
  readonly day: string;
  readonly licenses: number;
}

/** More refused licenses than on other days. */
export interface RisingRefusals {
  /** The licenses that were refused today. */
  readonly licenses: number;
  /** The average of the days before. */
  readonly usual: number;
}

/** The days that today is compared with. */
export const COMPARED_DAYS = 7;

/** Fewer are chance. */
const MIN_LICENSES = 10;

/** How much more than usual is reported. */
const RISE = 2;

/** Returns whether at least twice as many licenses as usual were refused today; null if not. */
export function findRisingRefusals(
  days: readonly RefusedDay[],
  today: string,
): RisingRefusals | null {
  const licenses = days.find(({ day }) => day === today)?.licenses ?? 0;
  const before = days.filter(({ day }) => day < today);
  const usual = before.reduce((sum, each) => sum + each.licenses, 0) / COMPARED_DAYS;
  return licenses >= MIN_LICENSES && licenses >= RISE * usual ? { licenses, usual } : null;
}
