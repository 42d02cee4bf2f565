import type { MailRelayCheck } from '@latchkey/contract';

import type { Config } from '#server/config/config.ts';
import type { MailTransport } from '#server/mail/mail-transport.ts';

const FIX = 'Check LATCHKEY_SMTP_URL (host, port, user, password) and the firewall.';
const FIX_TLS =
  'Set LATCHKEY_SMTP_URL to the host name in the certificate of the relay, with smtps:// for a port that starts with TLS (465) and smtp:// for other ports.';

/** Connects to the mail relay and logs in, without sending anything. */
export async function checkMailRelay({
  mail,
  config,
}: {
  readonly mail: MailTransport | null;
  readonly config: Pick<Config, 'mail'>;
}): Promise<MailRelayCheck> {
  const { from } = config.mail;
  if (mail?.check === undefined) {
    return {
      usable: false,
      summary: 'No mail relay is configured, so that no e-mail is sent.',
      advice: 'Set LATCHKEY_SMTP_URL and LATCHKEY_MAIL_FROM, then restart the service.',
      from,
    };
  }
  const failure = await mail.check();
  if (failure === null) {
    return { usable: true, summary: 'The relay accepts the login.', advice: null, from };
  }
  const { reason, reply } = failure;
  const quoted = reply === null ? '' : ` Its reply: ${reply}`;
  return {
    usable: false,
    summary: `The relay cannot be used: ${reason}.${quoted}`,
    advice: reason === 'tls' ? FIX_TLS : FIX,
    from,
  };
}
