import type { ClockMemory } from '../clock/clock.ts';
import { chooseFingerprint } from '../machine/choose-fingerprint.ts';
import { isGenerated } from '../machine/fingerprint.ts';
import { isActivated, type Kept, type NO_LICENSE } from './kept.ts';

type License = Pick<Kept, Exclude<keyof typeof NO_LICENSE, 'release'> | 'keys' | 'machine'>;

/**
 * Returns the content of a file that could not be read at first, with what the run changed until it could. A trial of the run does not
 * replace a license.
 * @param hasOwnLicense whether the run activated a license, apart from a trial, or removed it again
 */
export function joinRun(file: Kept, run: Kept, hasOwnLicense: boolean): Kept {
  const isTrialKept = !isActivated(file) || run.activationId === file.activationId;
  const isReplaced = hasOwnLicense || (isActivated(run) && isTrialKept);
  return {
    ...file,
    ...(isReplaced ? replaceLicense(file, run) : keepLicense(file, run)),
    release: run.release ?? releaseAfter(file, run.activationId),
    clock: joinClocks(file.clock, run.clock),
    installId: file.installId ?? run.installId,
    sharing: run.sharing ?? file.sharing,
    lastAnswerAt: run.lastAnswerAt ?? file.lastAnswerAt,
  };
}

function replaceLicense(file: Kept, run: Kept): License {
  const { activationId, entitlement, refused, request, trialWanted } = run;
  const isSame = entitlement !== null && activationId === file.activationId;
  return {
    // The answer to a machine without a connection has no key.
    key: run.key ?? (isSame ? file.key : null),
    activationId,
    entitlement,
    keys: run.keys.length > 0 ? run.keys : file.keys,
    machine: run.machine ?? file.machine,
    refused,
    request,
    trialWanted,
  };
}

function keepLicense(file: Kept, run: Kept): Partial<License> {
  // A system that cannot read the file may not have read its identity either.
  const reading = run.machine !== null && isGenerated(run.machine) ? null : run.machine;
  return {
    keys: file.keys.length > 0 ? file.keys : run.keys,
    machine: chooseFingerprint(file, reading) ?? run.machine,
    request: run.request ?? file.request,
    trialWanted: file.trialWanted || (run.trialWanted && !isActivated(file)),
  };
}

/** An activation of the run is wanted again. */
function releaseAfter({ release }: Kept, activationId: string | null): Kept['release'] {
  return release?.activationId === activationId ? null : release;
}

function joinClocks(file: ClockMemory, run: ClockMemory): ClockMemory {
  const { offsetMs } = run.latestMs > 0 ? run : file;
  return { offsetMs, latestMs: Math.max(file.latestMs, run.latestMs) };
}
