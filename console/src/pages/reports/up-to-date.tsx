import { Time } from '#console/ui/time.tsx';

interface UpToDateProps {
  readonly at: string | null;
  /** The periods of a chart, whose lines end with the last one that is over. */
  readonly unfinished?: 'day' | 'week' | 'month';
}

/** When the numbers of a report were counted. */
export function UpToDate({ at, unfinished }: UpToDateProps) {
  return (
    <p class="dim small">
      Counted <Time at={at} as="relative" never="never: the first count follows within minutes" />.
      Days are in UTC.
      {unfinished !== undefined && ` The line ends with the last ${unfinished} that is over.`}
    </p>
  );
}
