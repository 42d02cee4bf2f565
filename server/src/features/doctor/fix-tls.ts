import type { TlsFailure } from '#server/lib/tls-failure.ts';

/** How to trust an authority, for every connection but that to PostgreSQL. */
const TRUST =
  'Write the certificate of its authority to a file, set NODE_EXTRA_CA_CERTS to the path in the environment of the service, and restart it (docs/operations/install.md, "A private authority").';

/**
 * Returns the fix of a connection with TLS to a mail relay or to Redis.
 * @param setting the name of the setting with the URL
 * @param scheme what to check about the scheme of the URL
 */
export function fixTls({ kind }: TlsFailure, setting: string, scheme: string): string {
  switch (kind) {
    case 'self_signed':
    case 'unknown_authority':
      return TRUST;
    case 'host_name':
      return `Use one of those names as host in ${setting}, or issue a certificate for the host.`;
    case 'expired':
      return 'Renew it on the server, and check the clock of this machine.';
    case 'not_yet_valid':
      return 'Check the clocks of both machines.';
    case 'revoked':
      return 'Issue a new one for the server.';
    case 'client_certificate':
      return 'Let the server accept clients without a certificate; they authenticate with a password.';
    case 'protocol':
      return scheme;
  }
}
