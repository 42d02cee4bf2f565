import type { CampaignTexts, Language } from '@latchkey/contract';

import type { MailMessage } from '#server/mail/mail-transport.ts';
import { messageTokenOf } from '#server/mail/mailbox.ts';

import { createUnsubscribeHeaders, createUnsubscribeUrl } from '../../suppressions/unsubscribe.ts';
import { cleanName } from '../templates/render-template.ts';
import { readCampaignFacts } from './campaign-facts.ts';
import type { OutreachDependencies } from '../dependencies.ts';
import { renderCampaign, type AudienceSource } from './render-campaign.ts';

/** A message of a campaign to one address. */
export interface CampaignAddressee {
  readonly email: string;
  readonly name: string | null;
  readonly language: Language;
  readonly messageId: string;
}

/** Creates the mail of a campaign to one address, with the present catalogue. */
export function createCampaignMail(
  deps: Pick<OutreachDependencies, 'catalog' | 'config' | 'vault'>,
  { texts, source }: { readonly texts: CampaignTexts; readonly source: AudienceSource },
  { email, name, language, messageId }: CampaignAddressee,
): MailMessage {
  const text = texts[language];
  if (text === undefined) throw new RangeError(`the campaign has no text in ${language}`);
  const facts = {
    ...readCampaignFacts(deps, language),
    name,
    unsubscribeUrl: createUnsubscribeUrl(deps, email),
  };
  return {
    ...renderCampaign(text, language, source, facts),
    to: { address: email, name: cleanName(name) },
    messageToken: messageTokenOf(messageId),
    headers: { ...createUnsubscribeHeaders(deps, email), 'Content-Language': language },
  };
}
