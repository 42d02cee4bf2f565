/** Why an event is not stored, in the order in which the reasons are looked for. */
export const DROP_REASONS = [
  'sharing_off',
  'event_id',
  'name',
  'not_allowed',
  'props',
  'duplicate',
] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** How many events are not stored, for each reason that there is. */
export type DropCounts = ReadonlyMap<DropReason, number>;

/** As the header `X-Events-Dropped` tells it: `duplicate=3,name=1`. */
export function describeDrops(drops: DropCounts): string {
  return DROP_REASONS.flatMap((reason) => {
    const count = drops.get(reason) ?? 0;
    return count === 0 ? [] : [`${reason}=${count}`];
  }).join(',');
}
