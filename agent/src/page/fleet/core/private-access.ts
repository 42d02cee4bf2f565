import { isLoopbackAddress } from './machine-address.ts';
import type { PrivateAccess } from './types.ts';

/** The permissions of a browser, also of names that its types do not know yet. */
interface BrowserPermissions {
  query(descriptor: { readonly name: string }): Promise<{ readonly state: string }>;
}

/** Chrome 142 to 144 have one permission for both. */
const BOTH = 'local-network-access';

/**
 * Reads whether this page may connect to an address if that is private (https://wicg.github.io/local-network-access/).
 * @param permissions `navigator.permissions`
 * @param address from `parseMachineAddress`
 * @returns null where the browser has no such permission
 */
export async function queryPrivateAccess(
  permissions: BrowserPermissions,
  address: string,
): Promise<PrivateAccess> {
  const own = isLoopbackAddress(address) ? 'loopback-network' : 'local-network';
  return (await query(permissions, own)) ?? query(permissions, BOTH);
}

async function query(permissions: BrowserPermissions, name: string): Promise<PrivateAccess> {
  try {
    const { state } = await permissions.query({ name });
    return state === 'granted' || state === 'denied' || state === 'prompt' ? state : null;
  } catch {
    // A browser rejects names that it does not know.
    return null;
  }
}
