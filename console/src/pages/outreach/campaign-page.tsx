import type { Campaign } from '@latchkey/contract';

import type { RouteProps } from '#console/app/match-path.ts';
import { ResourcePage } from '#console/ui/resource-page.tsx';

import { CAMPAIGNS } from './campaign-labels.ts';
import { ComposePage } from './compose-page.tsx';
import { ProgressPage } from './progress-page.tsx';

/** A campaign: its editor while it is a draft, then its progress and report. */
export function CampaignPage({ params }: RouteProps) {
  const id = params['id'] ?? '';
  return (
    <ResourcePage<Campaign>
      path={`${CAMPAIGNS}/${encodeURIComponent(id)}`}
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
    </ResourcePage>
  );
}

/** The editor of a new mail. */
export function NewCampaignPage() {
  return <ComposePage campaign={null} />;
}
