import type { campaigns } from '@latchkey/contract';
import type { Pool } from 'pg';

import { selectFrom, type ListSource } from '../../lists/list-source.ts';
import { campaignList, hasNameWith, isInState, type CampaignRecord } from '../queries/campaigns.ts';
import { toCampaignSummary } from './campaign-views.ts';

/** Where the list of campaigns comes from. */
export function campaignSource(deps: {
  readonly pool: Pool;
}): ListSource<typeof campaigns, CampaignRecord> {
  const filters = { state: isInState, search: hasNameWith };
  return { read: selectFrom(deps, campaignList, filters), view: toCampaignSummary };
}
