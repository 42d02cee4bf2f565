import type { MailItem } from '@latchkey/contract';

type ExplainedMail = Pick<MailItem, 'kind' | 'reason' | 'state'>;

/** What happened to a mail, and what an operator can do; null if nothing is needed. */
interface Explanation {
  readonly summary: string;
  readonly advice: string | null;
}

const HELD: Readonly<Record<string, Explanation>> = {
  no_address: {
    summary: 'It waits for the e-mail address of the buyer: no event has named one.',
    advice:
      'Let the provider send customer events to the webhook too. For Paddle, set LATCHKEY_PADDLE_API_KEY and restart the service.',
  },
  no_mail: {
    summary: 'It waits for a mail relay: none is configured.',
    advice:
      'Set LATCHKEY_SMTP_URL and LATCHKEY_MAIL_FROM, and restart the service, which then sends it.',
  },
  look_up: {
    summary: 'It waits until the buyer was looked up at the provider, for 15 minutes at most.',
    advice: null,
  },
  no_license: {
    summary: 'It is withheld: no license of the purchase is valid.',
    advice: 'Reinstate a license first, if the buyer should get the key.',
  },
};

const REFUSED: Readonly<Record<ExplainedMail['kind'], string>> = {
  key: 'Correct the address at the payment provider, whose event sends it again. If the relay was the cause, repair it and send it again.',
  owner:
    'Check the mail relay, and the address of the license. The customer asks for a code again; a key is sent again on the page of the license.',
  confirmation: 'Check the address and the mail relay, then send it again.',
  outreach: 'Outreach stores no address: send the message to this recipient in a new request.',
};

const MAILBOX_LIMIT: Explanation = {
  summary: 'It was not sent: the mailbox got five confirmations within a day (mailbox_limit).',
  advice:
    'Somebody enters many addresses of this mailbox (ada+1@…, ada+2@…). Its owner can subscribe again a day later.',
};

/** Explains a mail in one sentence, with the advice that fits its failure. */
export function explainMail({ kind, state, reason }: ExplainedMail): Explanation {
  const code = reason === null ? '' : ` (${reason})`;
  switch (state) {
    case 'sent':
      return { summary: 'The mail relay accepted it.', advice: null };
    case 'sending':
      return { summary: 'It is being sent.', advice: null };
    case 'queued':
      return {
        summary:
          reason === null
            ? 'It waits to be sent.'
            : `The last attempt failed${code}; the service retries automatically.`,
        advice: null,
      };
    case 'held':
      return HELD[reason ?? ''] ?? { summary: `It waits${code}.`, advice: null };
    case 'unconfirmed':
      return {
        summary: 'The mail relay received it and did not confirm it: it may have been delivered.',
        advice: 'Look into the log of the relay. Send it again if it was not accepted.',
      };
    case 'failed':
      if (reason === 'mailbox_limit') return MAILBOX_LIMIT;
      return { summary: `The mail relay did not accept it${code}.`, advice: REFUSED[kind] };
  }
}
