import type { AdminLicenseDetails, LicenseTimelineItem } from '@latchkey/contract';
import {
  exportLicenseTimeline,
  listLicenseTimeline,
} from '@latchkey/contract/admin/license-timeline';
import { useState } from 'preact/hooks';

import { useOperation } from '#console/app/call.ts';
import { changeQuery, query } from '#console/app/router.ts';
import { Button } from '#console/ui/button.tsx';
import { CsvButton, exportOf } from '#console/ui/csv-button.tsx';
import { Empty } from '#console/ui/empty.tsx';
import { Loaded } from '#console/ui/loaded.tsx';
import { Section } from '#console/ui/page.tsx';
import { Timeline } from '#console/ui/timeline.tsx';

import { groupRawEvents } from './group-raw-events.ts';
import { toTimelineItem } from './timeline-items.tsx';

const KINDS: readonly { readonly kind: LicenseTimelineItem['kind']; readonly label: string }[] = [
  { kind: 'audit', label: 'Operators' },
  { kind: 'payment', label: 'Payments' },
  { kind: 'mail', label: 'Mail' },
  { kind: 'machine', label: 'Machines' },
  { kind: 'refusal', label: 'Refused' },
  { kind: 'webhook', label: 'Webhooks' },
];

const FIRST = 25;
const MOST = 200;

/** What happened to a license, in one list; runs of raw events are folded. */
export function TimelineSection({ license }: { readonly license: AdminLicenseDetails }) {
  const [limit, setLimit] = useState(FIRST);
  const kind = readKind(query.value.get('kind'));
  const cursor = query.value.get('cursor') ?? '';
  const params = { id: license.id };
  const filter = kind === undefined ? {} : { kind };
  const timeline = useOperation(listLicenseTimeline, {
    params,
    query: { ...filter, cursor, limit: `${limit}` },
  });
  return (
    <Section
      title="Timeline"
      actions={<CsvButton {...exportOf(exportLicenseTimeline, { params, query: filter })} />}
    >
      <Kinds selected={kind ?? ''} />
      <Loaded resource={timeline}>
        {({ items, next_cursor: next }) => (
          <>
            {items.length === 0 ? (
              <Empty title="Nothing of this kind" />
            ) : (
              <Timeline items={groupRawEvents(items).map(toTimelineItem)} />
            )}
            <div class="pages">
              {cursor !== '' && (
                <Button onClick={() => changeQuery({ cursor: null })}>Newest</Button>
              )}
              {next !== null && (
                <Button
                  onClick={() =>
                    limit < MOST
                      ? setLimit(MOST)
                      : changeQuery({ cursor: next }, { replace: false })
                  }
                >
                  {limit < MOST ? 'Show more' : 'Older'}
                </Button>
              )}
            </div>
          </>
        )}
      </Loaded>
    </Section>
  );
}

function readKind(text: string | null): LicenseTimelineItem['kind'] | undefined {
  return KINDS.find(({ kind }) => kind === text)?.kind;
}

function Kinds({ selected }: { readonly selected: string }) {
  return (
    <div class="ready" role="group" aria-label="Kinds">
      {[{ kind: '', label: 'All' }, ...KINDS].map(({ kind, label }) => (
        <button
          key={kind}
          type="button"
          aria-pressed={kind === selected}
          onClick={() => changeQuery({ kind, cursor: null })}
        >
          {label}
        </button>
      ))}
    </div>
  );
}
