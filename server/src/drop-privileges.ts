import type { Config } from './config/config.ts';
import type { Account } from './db/embedded/account.ts';
import { loadOpenidClient } from './features/operators/provider.ts';
import type { Logger } from './log.ts';
import { loadNodemailer } from './mail/relay.ts';

/**
 * Changes the account of this process irreversibly, from root to one without privileges. Open ports and files stay open.
 * The account may be unable to read modules that are imported later, so {@link loadDeferredModules} must come first.
 * @throws {Error} when the process can become root again
 */
export function dropPrivileges({ uid, gid }: Account, log: Logger): void {
  // In this order: only root can change groups.
  process.setgroups?.([gid]);
  process.setgid?.(gid);
  process.setuid?.(uid);
  if (canBecomeRoot()) throw new Error(`the process is still root after setuid(${uid})`);
  log.info({ event: 'service.privileges_dropped', uid, gid }, 'dropped the privileges of root');
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

/** Loads the modules that are otherwise loaded at their first use, and that this configuration uses. */
export async function loadDeferredModules({ operators }: Pick<Config, 'operators'>): Promise<void> {
  await loadNodemailer();
  if (operators.oidc !== null) await loadOpenidClient();
}
