import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

import type { Context } from '#server/context.ts';
import {
  type AccessEntry,
  recordAccess,
  type RecordedAccess,
} from '#server/features/audit/record-access.ts';

/** Facts of the operating system and the environment about the user of this process. */
export interface ProcessOwner {
  /** The effective user id; undefined on systems without user ids. */
  readonly uid: number | undefined;
  /** The account of the effective user id; null if there is none. */
  readonly account: string | null;
  /** `SUDO_USER`. The caller can set it to any name. */
  readonly sudoUser: string | undefined;
  /** `/proc/self/loginuid`; null if it cannot be read. */
  readonly loginUid: string | null;
  /** `/proc/self/cgroup`; null if it cannot be read. */
  readonly cgroup: string | null;
  /** `/etc/passwd`; null if it cannot be read. */
  readonly passwd: string | null;
}

/** The actor that the audit log records for this process. */
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
 * Describes an actor by words `<source>:<name>`, separated by spaces:
 * - `cli:` the account of the process, from the kernel;
 * - `sudo:` the account that called sudo, from `SUDO_USER`, which the caller can set to any name;
 * - `login:` the account that logged in, from the kernel's login uid (`pam_loginuid`), which sudo and su keep;
 * - `unit:` the systemd service of the process, from its control group.
 *
 * An unknown word, or one that repeats the account, is omitted.
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

/** (uid_t) -1: the process does not belong to a login, for example a systemd service. */
const NO_LOGIN = '4294967295';

function findLogin({ loginUid, passwd }: ProcessOwner): string | null {
  const uid = loginUid?.trim() ?? '';
  if (!/^\d+$/u.test(uid) || uid === NO_LOGIN) return null;
  const line = passwd?.split('\n').find((each) => each.split(':')[2] === uid);
  return line?.split(':')[0] ?? `uid-${uid}`;
}

/** A line of `/proc/<pid>/cgroup` (cgroups(7)), such as `0::/system.slice/latchkey.service`. */
const SERVICE = /^[^/]*:\/system\.slice\/(?:[^/]*\/)*[^/]+\.service$/u;

/** The control group of a login session ends in `.scope` and names no service. */
function findUnit(cgroup: string): string | null {
  const path = cgroup.split('\n').find((line) => SERVICE.test(line));
  return path?.slice(path.lastIndexOf('/') + 1) ?? null;
}

const MAX_WORD_LENGTH = 64;

/** Replaces characters that could form another word. */
function toWord(name: string): string {
  return name.slice(0, MAX_WORD_LENGTH).replaceAll(/[^\w.@$\\+-]/gu, '?');
}

function readAccount(): string | null {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a user id without an account.
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

type Access = Pick<AccessEntry, 'action' | 'subjectId'> &
  Partial<Pick<AccessEntry, 'reason' | 'details'>>;

/**
 * Records in the audit log that this command shows secrets or personal data. Call it before printing them.
 * @throws the error of the database if the entry cannot be written
 */
export function auditAccess(
  context: Pick<Context, 'pool' | 'clock'>,
  access: Access,
): Promise<RecordedAccess> {
  return recordAccess(context, { reason: null, details: {}, ...access, actor: currentActor() });
}
