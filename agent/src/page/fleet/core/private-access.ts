/** The permissions of a browser, also of names that its types do not know yet. */
interface BrowserPermissions {
  query(descriptor: { readonly name: string }): Promise<{ readonly state: string }>;
}

/**
 * Reads whether this page may connect to private addresses (https://wicg.github.io/local-network-access/).
 * @param permissions `navigator.permissions`
 * @returns null where the browser has no such permission
 */
export async function queryPrivateAccess(
  permissions: BrowserPermissions,
): Promise<'granted' | 'denied' | 'prompt' | null> {
  try {
    const { state } = await permissions.query({ name: 'local-network-access' });
    return state === 'granted' || state === 'denied' || state === 'prompt' ? state : null;
  } catch {
    // A browser rejects names that it does not know.
    return null;
  }
}
