import type { LicenseTimelineItem } from '@latchkey/contract';

/** Items of a timeline that are shown as one; most have one item. */
export interface TimelineGroup {
  /** The newest item. */
  readonly first: LicenseTimelineItem;
  readonly items: readonly LicenseTimelineItem[];
}

/** Raw events of the same kind that follow one another are shown as one. */
const RAW: ReadonlySet<LicenseTimelineItem['kind']> = new Set(['payment', 'refusal', 'webhook']);

/** Groups a timeline. @param items newest first */
export function groupRawEvents(items: readonly LicenseTimelineItem[]): TimelineGroup[] {
  const groups: { first: LicenseTimelineItem; items: LicenseTimelineItem[] }[] = [];
  for (const item of items) {
    const last = groups.at(-1);
    const isSame = last?.first.kind === item.kind && RAW.has(item.kind);
    if (last !== undefined && isSame) last.items.push(item);
    else groups.push({ first: item, items: [item] });
  }
  return groups;
}
