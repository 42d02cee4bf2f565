import { type Finding, ok, problem, skipped, warning } from '../finding.ts';
import type { Look } from '../look/look.ts';

const DAY_MS = 86_400_000;

/** A list that is out of date lets nobody in. */
const REVOCATIONS_WARNING_DAYS = 30;

/** The list of revoked certificates is in time, and something writes it anew. */
export function checkRevocations({ revocations, now }: Look): Finding {
  if (revocations === null) return skipped('revocations', 'No client certificates are asked for.');
  const { path, nextUpdate, isTimerActive } = revocations;
  const fix =
    'latchkey-agent client-cert refresh-list; systemctl enable --now latchkey-agent-revocations.timer';
  if (nextUpdate !== null && nextUpdate < now) {
    const cause = `${path} is out of date since ${nextUpdate.toISOString()}.`;
    return problem('revocations', { symptom: 'Every client is refused.', cause, fix });
  }
  const until = nextUpdate === null ? 'for good' : `until ${nextUpdate.toISOString()}`;
  const daysLeft = ((nextUpdate?.getTime() ?? Number.POSITIVE_INFINITY) - now.getTime()) / DAY_MS;
  if (!isTimerActive || daysLeft < REVOCATIONS_WARNING_DAYS) {
    const cause = `${path} holds ${until}, and ${isTimerActive ? 'the timer did not write it anew' : 'no timer writes it anew'}.`;
    return warning('revocations', { symptom: 'Later every client will be refused.', cause, fix });
  }
  return ok('revocations', `${path} holds ${until}.`);
}

/** A wrong clock makes good certificates look expired. */
export function checkClock({ isClockSynchronized, configuration, now }: Look): Finding {
  const fix =
    'timedatectl set-ntp true, and install systemd-timesyncd or chrony where there is none';
  const early =
    configuration.kind === 'read' &&
    configuration.findings.problems.some((each) => each.endsWith('is not valid yet.'));
  if (early) {
    return problem('clock', {
      symptom: 'A certificate is not valid yet.',
      cause: `The clock of this machine is behind: it says ${now.toISOString()}.`,
      fix,
    });
  }
  if (isClockSynchronized === null) return skipped('clock', 'Nobody says whether it is set.');
  if (isClockSynchronized) return ok('clock', 'It is set by the network.');
  return warning('clock', {
    symptom:
      'Good certificates may look expired, or not valid yet, and times in snapshots are off.',
    cause: 'Nothing sets the clock of this machine.',
    fix,
  });
}
