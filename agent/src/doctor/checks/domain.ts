import { mayBeBehindNat } from '../../install/plan/check-addresses.ts';
import { type Finding, ok, problem, skipped, warning } from '../finding.ts';
import type { Inspection } from '../inspect/inspection.ts';
import { formatList, listNeededPorts } from './firewall.ts';

/** Checks that the domain resolves to this machine, where challenges must arrive. */
export function checkDomain(inspection: Inspection): Finding {
  const { domain } = inspection;
  if (domain === null) return skipped('domain', 'The installation has no domain.');
  const { name, addresses, resolverFault, ownAddresses } = domain;
  const symptom = 'The validation of the domain fails, and viewers reach another machine.';
  if (addresses.length === 0 && resolverFault !== null) {
    return problem('domain', {
      symptom: 'This machine cannot resolve names: no certificate is renewed.',
      cause: `The name servers do not answer for ${name} (${resolverFault}).`,
      fix: 'Correct /etc/resolv.conf or the service behind it (resolvectl status).',
    });
  }
  if (addresses.length === 0) {
    return problem('domain', {
      symptom,
      cause: `${name} does not resolve: the DNS has no address for it.`,
      fix: `Add a record for ${name} with the address of this machine (${formatList(ownAddresses)}).`,
    });
  }
  // A forwarded address is not this machine's own, yet this machine answers it.
  const answered = inspection.challenges.filter(({ isOurs }) => isOurs === true);
  const reached = new Set([...ownAddresses, ...answered.map(({ address }) => address)]);
  const strange = addresses.filter((each) => !reached.has(each));
  if (strange.length === 0) return ok('domain', `${name} resolves to this machine.`);
  const isAccepted = inspection.installed?.skipsDnsCheck === true;
  const accepted = isAccepted ? '; the installation accepted that (--skip-dns-check)' : '';
  const cause = `${name} resolves to ${formatList(strange)}, and this machine has ${formatList(ownAddresses)}${accepted}.`;
  if (isAccepted || strange.some((each) => mayBeBehindNat(each, ownAddresses))) {
    const ports = formatList(listNeededPorts(inspection).map(String));
    const fix = `Check that the router forwards port ${ports} to this machine.`;
    return warning('domain', { symptom, cause, fix });
  }
  return problem('domain', { symptom, cause, fix: `Correct the records of ${name} in the DNS.` });
}
