import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

import type { Context } from '#server/context.ts';
import {
  type AccessEntry,
  recordAccess,
  type RecordedAccess,
} from '#server/features/audit/record-access.ts';

/** What the operating system and the environment say about who runs this process. */
export interface ProcessOwner {
  /** The effective user id; undefined where the system has none. */
  readonly uid: number | undefined;
  /** The account of the effective user id; null when the id has none. */
  readonly account: string | null;
  /** `SUDO_USER`. The caller can set it, so it is a claim. */
  readonly sudoUser: string | undefined;
  /** `/proc/self/loginuid`; null where there is none. */
  readonly loginUid: string | null;
  /** `/proc/self/cgroup`; null where there is none. */
  readonly cgroup: string | null;
  /** `/etc/passwd`; null where there is none. */
  readonly passwd: string | null;
}

/** Who is at the command line, for the audit log: {@link describeActor} of this process. */
export function currentActor(): string {
  return describeActor({
    uid: process.geteuid?.(),
    account: readAccount(),
    sudoUser: process.env['SUDO_USER'],
    loginUid: readText('/proc/self/loginuid'),
    cgroup: readText('/proc/self/cgroup'),
    passwd: readText('/etc/passwd'),
  });
}

/**
 * Names an actor as words of `<source>:<name>`, separated by spaces:
 * - `cli:` the account of the process, from the kernel;
 * - `sudo:` the account that called sudo, from `SUDO_USER`, which whoever runs the command can also set;
 * - `login:` the account that logged in, from the kernel's login uid (`pam_loginuid`), which sudo and su keep;
 * - `unit:` the systemd service of the process, from its control group.
 *
 * A word is left out when it is unknown or repeats the account.
 */
export function describeActor(owner: ProcessOwner): string {
  const account = owner.account ?? `uid-${owner.uid ?? 'unknown'}`;
  const { sudoUser } = owner;
  const login = findLogin(owner);
  const unit = findUnit(owner.cgroup ?? '');
  return [
    `cli:${toWord(account)}`,
    ...(sudoUser === undefined || sudoUser === account ? [] : [`sudo:${toWord(sudoUser)}`]),
    ...(login === null || login === account ? [] : [`login:${toWord(login)}`]),
    ...(unit === null ? [] : [`unit:${toWord(unit)}`]),
  ].join(' ');
}

/** (uid_t) -1: nobody logged in, as in a service that systemd starts. */
const NO_LOGIN = '4294967295';

function findLogin({ loginUid, passwd }: ProcessOwner): string | null {
  const uid = loginUid?.trim() ?? '';
  if (!/^\d+$/u.test(uid) || uid === NO_LOGIN) return null;
  const line = passwd?.split('\n').find((each) => each.split(':')[2] === uid);
  return line?.split(':')[0] ?? `uid-${uid}`;
}

/** Of a session, such as one by SSH, the control group ends in `.scope`: that is no service. */
function findUnit(cgroup: string): string | null {
  return (
    /:\/system\.slice\/(?:[^\n]*\/)?(?<unit>[^/\n]+\.service)$/mu.exec(cgroup)?.groups?.['unit'] ??
    null
  );
}

const MAX_WORD_LENGTH = 64;

/** A name without anything that could pass for another word. */
function toWord(name: string): string {
  return name.slice(0, MAX_WORD_LENGTH).replaceAll(/[^\w.@$\\+-]/gu, '?');
}

function readAccount(): string | null {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that has no account.
    return null;
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Only Linux has these files, and a container may hide them.
    return null;
  }
}

interface Access extends Pick<AccessEntry, 'action' | 'subjectId'> {
  readonly reason?: string | undefined;
  readonly details?: AccessEntry['details'];
}

/**
 * Writes the audit row of secrets or personal data that this command is about to show. Call it before anything is printed.
 * @throws the error of the database when the row cannot be written
 */
export function auditAccess(
  ctx: Pick<Context, 'pool' | 'clock'>,
  { action, subjectId, reason, details = {} }: Access,
): Promise<RecordedAccess> {
  const entry = { action, subjectId, reason: reason ?? null, details };
  return recordAccess(ctx, { ...entry, actor: currentActor() });
}
