import type { Account } from './db/embedded/account.ts';
import type { Logger } from './log.ts';
import { loadNodemailer } from './mail/relay.ts';

/**
 * Makes this process run as an account without privileges from now on, for good. Ports and files that are open stay so;
 * modules that are imported later must have been loaded before, because the account may not be able to read them.
 * @throws {Error} when the system lets the process become root again
 */
export function giveUpRoot({ uid, gid }: Account, log: Logger): void {
  // In this order: without root's user id, the groups can no longer be changed.
  process.setgroups?.([gid]);
  process.setgid?.(gid);
  process.setuid?.(uid);
  if (canBecomeRoot()) throw new Error(`the process is still root after setuid(${uid})`);
  log.info({ event: 'service.root_given_up', uid, gid }, 'gave up root');
}

function canBecomeRoot(): boolean {
  try {
    process.setuid?.(0);
    return true;
  } catch {
    // EPERM, as it must be.
    return false;
  }
}

/** Loads what is otherwise loaded at its first use: a process that gave up root may not be able to read it then. */
export async function loadDeferredModules(): Promise<void> {
  await loadNodemailer();
}
