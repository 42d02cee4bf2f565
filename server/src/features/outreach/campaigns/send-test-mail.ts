import { parseEmail, type CampaignTestMail } from '@latchkey/contract';
import { v7 as createUuid } from 'uuid';

import { notPossible } from '#server/errors.ts';
import { formatMessageId, parseMailbox } from '#server/mail/mailbox.ts';

import { recordAccess } from '../../audit/record-access.ts';
import { toOutcome } from '../message-outcome.ts';
import { createCampaignMail } from './create-message.ts';
import type { OutreachDependencies } from '../dependencies.ts';
import { NO_MAIL } from './start-campaign.ts';

/**
 * Sends the mail in one language to an operator, also when it has faults, after an audit entry.
 * @throws notPossible (409) without a relay, and when it does not accept the mail
 */
export async function sendTestMail(
  deps: OutreachDependencies,
  { texts, language, audience }: CampaignTestMail,
  {
    actor,
    ...recipient
  }: { readonly email: string; readonly name: string; readonly actor: string },
): Promise<void> {
  const { config, databaseLimiter, metrics, outreachMail } = deps;
  if (outreachMail === null) throw notPossible(NO_MAIL);
  if (texts[language] === undefined) throw notPossible('There is no text in this language.');
  if ('fault' in parseEmail(recipient.email)) throw notPossible('Your address gets no mail.');
  const entry = { action: 'outreach.send_test', subjectId: 'outreach_test', actor, reason: null };
  const details = { language, source: audience.source };
  await databaseLimiter.run(() => recordAccess(deps, { ...entry, details }));
  const { address } = parseMailbox(config.mail.from ?? '');
  const messageId = formatMessageId(`outreach-test-${createUuid()}`, address);
  const content = { texts, source: audience.source };
  const mail = createCampaignMail(deps, content, { ...recipient, language, messageId });
  const result = await outreachMail.send({ ...mail, subject: `[Test] ${mail.subject}` });
  metrics.countMail('outreach', result.outcome);
  const { error } = toOutcome(result);
  if (error !== null) throw notPossible(`The mail relay did not accept the mail: ${error}`);
}
