import { showCampaign } from '@latchkey/contract/admin/outreach';

import type { RouteProps } from '#console/app/match-path.ts';
import { OperationPage } from '#console/ui/operation-page.tsx';

import { ComposePage } from './compose-page.tsx';
import { ProgressPage } from './progress-page.tsx';

/** A campaign: its editor while it is a draft, then its progress and report. */
export function CampaignPage({ params }: RouteProps) {
  const { id = '' } = params;
  return (
    <OperationPage
      of={showCampaign}
      params={{ id }}
      title="Mail"
      back={{ to: '/outreach', label: 'Outreach' }}
    >
      {(campaign) =>
        campaign.state === 'draft' ? (
          <ComposePage key={id} campaign={campaign} />
        ) : (
          <ProgressPage key={id} campaign={campaign} />
        )
      }
    </OperationPage>
  );
}

/** The editor of a new mail. */
export function NewCampaignPage() {
  return <ComposePage campaign={null} />;
}
