import type { ProgramResult } from '../run-program.ts';

/** What certbot's output says of a failure, each with the sentence for it; the first that fits is told. */
const CAUSES: readonly (readonly [RegExp, (domain: string) => string])[] = [
  [
    /Could not bind TCP port 80|Problem binding to port 80/iu,
    () =>
      'Port 80, where the authority looks, is in use by another program: stop it for the installation, or choose LATCHKEY_INSTALL_MODE=proxy.',
  ],
  [
    /Another instance of Certbot/iu,
    () => 'certbot is running already, perhaps for a renewal: start again when it has ended.',
  ],
  [
    /rateLimited|rate.?limit|too many (?:certificates|failed|new|currently)/iu,
    (domain) =>
      `The authority gives no more certificates for ${domain} for a while: wait as long as it says, or give a certificate by LATCHKEY_CERT_FILE and LATCHKEY_KEY_FILE.`,
  ],
  [
    /invalidContact|invalid email|unsupportedContact|contact email/iu,
    () => 'The authority does not take the e-mail address: correct LATCHKEY_EMAIL.',
  ],
  [
    /NXDOMAIN|DNS problem|Type:\s+dns/iu,
    (domain) =>
      `The authority does not find ${domain} in the DNS: point its A and AAAA records to this machine.`,
  ],
  [
    /Some challenges have failed|Type:\s+(?:connection|unauthorized)|urn:ietf:params:acme:error:(?:connection|unauthorized)/iu,
    (domain) =>
      `The authority did not get its answer from http://${domain}/: point the DNS of ${domain} to this machine, and open port 80.`,
  ],
  [
    /CERTIFICATE_VERIFY_FAILED|SSLError/u,
    () =>
      "The authority's own certificate is not trusted here: set the clock, install ca-certificates, or correct LATCHKEY_ACME_SERVER.",
  ],
  [
    /ConnectionError|Max retries exceeded|Failed to establish a new connection|Network is unreachable|name resolution|Connection refused|timed out/iu,
    () =>
      'The authority cannot be reached from this machine: check its network, its DNS and LATCHKEY_ACME_SERVER.',
  ],
];

/** Why certbot failed and what helps, as one sentence. */
export function explainCertbot(
  { stdout, stderr, isMissing }: ProgramResult,
  domain: string,
): string {
  if (isMissing) return 'certbot is not on this machine: install it.';
  const output = `${stdout}\n${stderr}`;
  const found = CAUSES.find(([pattern]) => pattern.test(output));
  return found?.[1](domain) ?? `certbot could not get a certificate for ${domain}.`;
}
