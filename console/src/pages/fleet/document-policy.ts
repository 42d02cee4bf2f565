/** The content security policy in the document, which names the hosts that the fleet page may connect to. */

import { urlOf } from './fleet-resources.ts';

/** Returns those of the addresses that a policy does not name. @param policy null: the document has none */
export function findUnnamed(addresses: readonly string[], policy: string | null): string[] {
  const sources = new Set((policy ?? '').split(/[ ;]+/));
  return addresses.filter((address) => {
    const { host } = new URL(urlOf(address));
    return !sources.has(`wss://${host.includes(':') ? host : `${host}:443`}`);
  });
}

/** Returns the policy in the document; null without one. */
export function readPolicy(): string | null {
  const element = document.querySelector('meta[http-equiv="content-security-policy"]');
  return element?.getAttribute('content') ?? null;
}

const LOADED_FOR = 'latchkey.fleet.loaded-for';

/**
 * Loads the document again, because it was loaded before a server was added, or without a session. Once for the same addresses:
 * the service may name fewer hosts than it lists, such as without its database.
 * @returns whether it is loaded
 */
export function loadDocumentFor(addresses: readonly string[]): boolean {
  const wanted = addresses.join(' ');
  try {
    if (sessionStorage.getItem(LOADED_FOR) === wanted) return false;
    sessionStorage.setItem(LOADED_FOR, wanted);
  } catch {
    // The browser stores nothing for this page, so it could load forever.
    return false;
  }
  globalThis.location.reload();
  return true;
}

/** Lets {@link loadDocumentFor} load again: the document names every host. */
export function forgetLoading(): void {
  try {
    sessionStorage.removeItem(LOADED_FOR);
  } catch {
    // Nothing is stored.
  }
}
