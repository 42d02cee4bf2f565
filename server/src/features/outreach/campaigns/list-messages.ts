import { parseEmail, type CampaignMessage, type campaignMessages } from '@latchkey/contract';

import { selectFrom, type ListSource } from '../../lists/list-source.ts';
import { hashAddressUnderAll } from '../../suppressions/address-hash.ts';
import type { OutreachDependencies } from '../dependencies.ts';
import {
  hasResult,
  isOfCampaign,
  isToAny,
  messageList,
  type CampaignMessageRecord,
} from '../queries/recipients.ts';
import { requireCampaign } from './edit-campaign.ts';

/** Where the list of the messages of a campaign comes from. */
export function messageSource(
  deps: Pick<OutreachDependencies, 'pool' | 'vault'>,
): ListSource<typeof campaignMessages, CampaignMessageRecord> {
  const filters = {
    id: isOfCampaign,
    result: hasResult,
    search: (text: string) =>
      isToAny('email' in parseEmail(text) ? hashAddressUnderAll(deps.vault, text) : []),
  };
  return {
    require: ({ id = '' }) => requireCampaign(deps.pool, id),
    read: selectFrom(deps, messageList, filters),
    view: toCampaignMessage,
  };
}

/** The outcome of a message, as operators filter by it. */
function resultOf({
  state,
  error,
  unsubscribed,
}: CampaignMessageRecord): CampaignMessage['result'] {
  if (unsubscribed) return 'unsubscribed';
  const isUnsent = error === 'suppressed' || error === 'canceled';
  return state === 'failed' && isUnsent ? error : state;
}

/** Converts a message of a campaign to its form in the operator interface. */
function toCampaignMessage(record: CampaignMessageRecord): CampaignMessage {
  const { position, email, name, language, error } = record;
  const result = resultOf(record);
  const ended = { ended_at: record.endedAt?.toISOString() ?? null, message_id: record.messageId };
  return { position, email, name, language, result, error, ...ended };
}
