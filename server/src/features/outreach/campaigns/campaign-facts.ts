import type { Language } from '@latchkey/contract';

import { parseMailbox } from '#server/mail/mailbox.ts';

import { readCommonFacts, type CommonFacts } from '../templates/template.ts';
import type { OutreachDependencies } from '../dependencies.ts';

/** Shown in previews while no mail is configured. */
const EXAMPLE_SENDER = 'news@example.com';

/** Reads the facts that all messages in a language share, from the present catalogue. */
export function readCampaignFacts(
  { catalog, config }: Pick<OutreachDependencies, 'catalog' | 'config'>,
  language: Language,
): CommonFacts {
  const from = parseMailbox(config.mail.from ?? EXAMPLE_SENDER);
  return readCommonFacts(catalog().outreach, language, from);
}
