import { agentUnit, agentUser, paths } from '../../install/paths.ts';
import { mayBeBehindNat } from '../../install/plan/check-addresses.ts';
import { type ChallengeAnswer, findChallengeProblem } from '../../install/verify/challenge.ts';
import { type Finding, ok, problem, skipped, warning } from '../finding.ts';
import type { Inspection } from '../inspect/inspection.ts';

const DAY_MS = 86_400_000;
const HTTP_PORT = 80;

/** Checks that the agent's user can read its TLS files, and that they match, are valid and name the domain. */
export function checkCertificate(inspection: Inspection): Finding {
  const { configuration } = inspection;
  if (configuration.kind === 'invalid') return skipped('certificate', 'Its path is unknown.');
  const [unreadable] = configuration.unreadable;
  const symptom = 'Viewers cannot verify the certificate, or the agent does not start.';
  if (unreadable !== undefined) {
    return problem('certificate', {
      symptom,
      cause: `The user ${agentUser} may not read ${unreadable}.`,
      fix: `chown root:${agentUser} ${unreadable} && chmod 640 ${unreadable} && latchkey-agent reload`,
    });
  }
  const { problems, warnings } = configuration.findings;
  const faults = problems.filter(({ code }) => code !== 'port_unusable');
  if (faults.length > 0) {
    return problem('certificate', {
      symptom,
      cause: faults.map(({ message }) => message).join(' '),
      fix: howToRenew(inspection),
    });
  }
  const soon = warnings.find(({ code }) => code === 'certificate_expiring');
  if (soon !== undefined) {
    const cause = `${soon.message} It should have been renewed by now.`;
    return warning('certificate', {
      symptom: 'Soon viewers will reject the certificate as expired.',
      cause,
      fix: howToRenew(inspection),
    });
  }
  return ok('certificate', `${configuration.config.tls.certificateFile} is valid.`);
}

/** Checks that certbot renews the certificate in time. */
export function checkRenewal(inspection: Inspection): Finding {
  const { renewal, now, installed, listeners } = inspection;
  if (renewal === null) return skipped('renewal', 'certbot keeps no certificate for the domain.');
  if (renewal.authenticator === 'webroot' && !listeners.some(({ port }) => port === HTTP_PORT)) {
    return problem('renewal', {
      symptom: 'The certificate is not renewed.',
      cause: `certbot renews ${renewal.name} through a web server on port 80 (webroot), and none is running.`,
      fix: "Start the web server (systemctl start nginx), or use certbot's standalone mode: latchkey-agent install --email ADDRESS",
    });
  }
  const challenge = findChallengeProblem(renewal.name, listConclusive(inspection));
  if (challenge !== null) {
    return problem('renewal', {
      symptom: 'The certificate is not renewed.',
      cause: challenge,
      fix: 'Let the installer restore its challenge route: latchkey-agent install. Then test: certbot renew --dry-run',
    });
  }
  if (inspection.isCertificateOutdated) {
    return problem('renewal', {
      symptom: 'Viewers will see an expired certificate, though certbot has renewed it.',
      cause: `The agent has an older copy than ${renewal.directory}/fullchain.pem.`,
      fix: 'Install again, which copies it now and after each renewal: latchkey-agent install',
    });
  }
  const daysLeft = Math.floor((renewal.expiresAt.getTime() - now.getTime()) / DAY_MS);
  if (renewal.isExpired || daysLeft < 14) {
    const fix = `See why: certbot renew --cert-name ${renewal.name} --dry-run`;
    const cause = renewal.isExpired
      ? `The certificate ${renewal.name} expired on ${renewal.expiresAt.toISOString()}.`
      : `The certificate ${renewal.name} has ${daysLeft} days left: certbot renews it a month before.`;
    const symptom = 'The certificate is not renewed.';
    const what = { symptom, cause, fix };
    return renewal.isExpired ? problem('renewal', what) : warning('renewal', what);
  }
  const by = installed?.mode === 'proxy' ? 'through nginx' : `by ${renewal.authenticator}`;
  return ok('renewal', `certbot renews ${renewal.name} ${by}; ${daysLeft} days are left.`);
}

/** Returns the answers that prove a failing renewal: a router may answer requests from inside itself. */
function listConclusive({ challenges, domain, installed }: Inspection): readonly ChallengeAnswer[] {
  const own = domain?.ownAddresses ?? [];
  return challenges.filter(
    ({ address, isOwn }) =>
      isOwn || !(installed?.skipsDnsCheck === true || mayBeBehindNat(address, own)),
  );
}

function howToRenew({ renewal }: Inspection): string {
  return renewal === null
    ? `Replace the files, then: latchkey-agent validate && latchkey-agent reload`
    : `certbot renew --cert-name ${renewal.name} --force-renewal, then: ${paths.renewalHook} or systemctl reload ${agentUnit}`;
}

/** No viewer is admitted with an outdated list. */
const REVOCATIONS_WARNING_DAYS = 30;

/** Checks that the revocation list is valid, and that a timer renews it. */
export function checkRevocations({ revocations, now }: Inspection): Finding {
  if (revocations === null) return skipped('revocations', 'No client certificates are required.');
  const { path, nextUpdate, isTimerActive } = revocations;
  const fix =
    'latchkey-agent client-cert refresh-list; systemctl enable --now latchkey-agent-revocations.timer';
  if (nextUpdate !== null && nextUpdate < now) {
    const cause = `${path} expired on ${nextUpdate.toISOString()}.`;
    return problem('revocations', { symptom: 'Every client is refused.', cause, fix });
  }
  const until = nextUpdate === null ? 'without end' : `until ${nextUpdate.toISOString()}`;
  const daysLeft = ((nextUpdate?.getTime() ?? Number.POSITIVE_INFINITY) - now.getTime()) / DAY_MS;
  if (!isTimerActive || daysLeft < REVOCATIONS_WARNING_DAYS) {
    const cause = `${path} is valid ${until}, and ${isTimerActive ? 'the timer did not renew it' : 'no timer renews it'}.`;
    return warning('revocations', { symptom: 'Later every client will be refused.', cause, fix });
  }
  return ok('revocations', `${path} is valid ${until}.`);
}

/** Checks the clock: a wrong one makes valid certificates look expired. */
export function checkClock({ isClockSynchronized, configuration, now }: Inspection): Finding {
  const fix =
    'timedatectl set-ntp true; install systemd-timesyncd or chrony if neither is installed';
  const early =
    configuration.kind === 'read' &&
    configuration.findings.problems.some(({ code }) => code === 'certificate_not_yet_valid');
  if (early) {
    return problem('clock', {
      symptom: 'A certificate is not valid yet.',
      cause: `The clock of this machine is behind: it shows ${now.toISOString()}.`,
      fix,
    });
  }
  if (isClockSynchronized === null)
    return skipped('clock', 'timedatectl does not report whether it is synchronized.');
  if (isClockSynchronized) return ok('clock', 'It is synchronized.');
  return warning('clock', {
    symptom:
      'Good certificates may look expired, or not valid yet, and times in snapshots are off.',
    cause: 'The clock of this machine is not synchronized.',
    fix,
  });
}
