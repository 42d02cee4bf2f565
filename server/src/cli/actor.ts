import { userInfo } from 'node:os';

/** Who is at the command line, for the audit log. */
export function currentActor(): string {
  return `cli:${accountName()}`;
}

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that has no account.
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
