import type { OutreachLanguage, OutreachTemplate } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import { readTokenOf } from '#server/mail/message-id.ts';
import type { MailMessage } from '#server/mail/mail-transport.ts';
import { parseMailbox } from '#server/mail/parse-mailbox.ts';

import { makeUnsubscribeHeaders, makeUnsubscribeUrl } from '../suppressions/unsubscribe-headers.ts';
import { readCommonFacts } from './templates/letter-facts.ts';
import { readableName, writeLetter } from './templates/write-letter.ts';

/** Who gets a letter. */
export interface Addressee {
  readonly email: string;
  readonly name: string | null;
  readonly messageId: string;
}

/** Gives what writes the letters of one template in one language, with what the catalogue says now. */
export function createLetterWriter(
  ctx: Pick<Context, 'catalog' | 'config' | 'vault'>,
  template: OutreachTemplate,
  language: OutreachLanguage,
): (addressee: Addressee) => MailMessage {
  const from = parseMailbox(ctx.config.mail.from ?? '');
  const common = readCommonFacts(ctx.catalog().outreach, language, from);
  return ({ email, name, messageId }) => {
    const unsubscribeUrl = makeUnsubscribeUrl(ctx, email);
    return {
      ...writeLetter(template, language, { ...common, name, unsubscribeUrl }),
      to: { address: email, name: readableName(name) },
      messageToken: readTokenOf(messageId),
      headers: { ...makeUnsubscribeHeaders(ctx, email), 'Content-Language': language },
    };
  };
}
