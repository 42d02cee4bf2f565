import type { Campaign, CampaignReport } from '@latchkey/contract';
import { reportCampaign } from '@latchkey/contract/admin/outreach-report';

import { useOperation } from '#console/app/call.ts';
import { Figures } from '#console/ui/figures.tsx';
import { formatNumber, formatPercent } from '#console/ui/format.ts';
import { Loaded } from '#console/ui/loaded.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { Time } from '#console/ui/time.tsx';

import { describeError } from './campaign-labels.ts';

/** The outcomes of a campaign in numbers, and why messages failed. */
export function Report({ campaign }: { readonly campaign: Campaign }) {
  const { id, state } = campaign;
  const report = useOperation(reportCampaign, { params: { id } }, { polls: state === 'sending' });
  return (
    <Loaded resource={report}>
      {(loaded) => (
        <div class="stack">
          <Numbers campaign={campaign} report={loaded} />
          {loaded.reasons.length > 0 && <Reasons reasons={loaded.reasons} />}
          {loaded.kept_until !== null && (
            <p class="dim small">
              Recipients and reasons are kept until <Time at={loaded.kept_until} as="date" />, the
              numbers for good.
            </p>
          )}
        </div>
      )}
    </Loaded>
  );
}

interface NumbersProps {
  readonly campaign: Campaign;
  readonly report: CampaignReport;
}

function Numbers({ campaign: { id, counts }, report: { unsubscribed } }: NumbersProps) {
  const { canceled, sent, failed, suppressed, unknown } = counts;
  const messages = `/outreach/${id}?tab=messages`;
  const shareOf = (part: number): string | undefined =>
    sent === 0 || part === 0 ? undefined : `${formatPercent(part / sent)} of those sent`;
  return (
    <Figures
      items={[
        { label: 'Sent', value: formatNumber(sent), to: `${messages}&result=sent` },
        { label: 'Failed', value: formatNumber(failed), to: `${messages}&result=failed` },
        {
          label: 'Suppressed',
          value: formatNumber(suppressed),
          to: `${messages}&result=suppressed`,
        },
        ...(canceled === 0
          ? []
          : [
              {
                label: 'Canceled',
                value: formatNumber(canceled),
                to: `${messages}&result=canceled`,
              },
            ]),
        ...(unknown === 0
          ? []
          : [
              {
                label: 'Unknown',
                value: formatNumber(unknown),
                note: 'may have arrived',
                to: `${messages}&result=unknown`,
              },
            ]),
        {
          label: 'Unsubscribed after',
          value: formatNumber(unsubscribed),
          note: shareOf(unsubscribed),
          to: `${messages}&result=unsubscribed`,
        },
      ]}
    />
  );
}

function Reasons({ reasons }: Pick<CampaignReport, 'reasons'>) {
  return (
    <PlainTable
      caption="Why messages were not sent"
      rows={reasons}
      rowKey={({ state, error }) => `${state} ${error}`}
      columns={[
        { key: 'error', label: 'Reason', cell: ({ error }) => <code>{error}</code> },
        {
          key: 'meaning',
          label: 'Meaning',
          grow: true,
          cell: ({ error }) => describeError(error),
        },
        {
          key: 'count',
          label: 'Messages',
          align: 'end',
          cell: ({ count }) => formatNumber(count),
        },
      ]}
    />
  );
}
