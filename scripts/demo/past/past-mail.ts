import type { MailTransport } from '#server/mail/mail-transport.ts';

import { decideAcceptance } from '../local/mail-rules.ts';
import { DAY_MS, pastClock } from '../time.ts';

/** A busy server accepts the mail at a later attempt, within this time. */
const BUSY_MS = 2 * DAY_MS;

/** Answers as a relay did in the past, without a connection. */
export function createPastMail(nowMs: number): MailTransport {
  return {
    async send({ to, messageToken }) {
      const acceptance = decideAcceptance(to.address);
      if (acceptance === 'unknown_user') {
        const reply = `550 5.1.1 <${to.address}>: Recipient address rejected: User unknown`;
        return { outcome: 'permanent', reason: 'smtp_550', reply };
      }
      if (acceptance === 'busy' && pastClock.now().getTime() > nowMs - BUSY_MS) {
        return { outcome: 'temporary', reason: 'smtp_451', reply: '451 4.7.1 Try again later' };
      }
      return { outcome: 'sent', messageId: `<${messageToken}@contour.example>` };
    },
    close() {},
  };
}
