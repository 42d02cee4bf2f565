import type { AdminLicenseDetails, LicenseTimeline, LicenseTimelineItem } from '@latchkey/contract';
import { useState } from 'preact/hooks';

import { addQuery } from '#console/app/query.ts';
import { useResource } from '#console/app/resources.ts';
import { changeQuery, query } from '#console/app/router.ts';
import { Button } from '#console/ui/button.tsx';
import { CsvButton } from '#console/ui/csv-button.tsx';
import { Empty } from '#console/ui/empty.tsx';
import { Loaded } from '#console/ui/loaded.tsx';
import { Section } from '#console/ui/page.tsx';
import { Timeline } from '#console/ui/timeline.tsx';

import { groupRawEvents } from './group-raw-events.ts';
import { toTimelineItem } from './timeline-items.tsx';
import { LICENSES } from './license-labels.ts';

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
  const kind = query.value.get('kind') ?? '';
  const cursor = query.value.get('cursor') ?? '';
  const path = `${LICENSES}/${license.id}/timeline`;
  const timeline = useResource<LicenseTimeline>(
    addQuery(path, { kind, cursor, limit: `${limit}` }),
  );
  return (
    <Section
      title="Timeline"
      actions={<CsvButton path={addQuery(`${path}/export`, { kind })} role="support" fresh />}
    >
      <Kinds selected={kind} />
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
