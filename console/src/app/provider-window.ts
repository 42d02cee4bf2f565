/**
 * Signing in and proving freshness at the identity provider in a window of its own, so that the page that asks keeps what was
 * entered. The window loses its opener on the way (Cross-Origin-Opener-Policy), so it reports back over a channel, which
 * carries no data: the page asks the service.
 */
import type { CurrentOperator } from '@latchkey/contract';
import { viewSession } from '@latchkey/contract/admin/session';
import { beginProviderProof, beginProviderSignIn } from '@latchkey/contract/admin/sign-in-methods';

import { ApiError } from './api-error.ts';
import { callOnce } from './call.ts';
import { hrefOf } from './router.ts';

/** The page that the provider sends the window back to. */
export const BACK_PATH = '/back-from-provider';

const BEGINNINGS = { sign_in: beginProviderSignIn, proof: beginProviderProof };

export type ProviderPurpose = keyof typeof BEGINNINGS;

/** Reads the page of the provider. @param returnTo the page of the console to return to */
export async function readProviderUrl(purpose: ProviderPurpose, returnTo: string): Promise<string> {
  const body = { return_to: hrefOf(returnTo) };
  return (await callOnce(BEGINNINGS[purpose], { body })).url;
}

/**
 * Opens the provider in a window; to be called by a click itself, without which browsers open none.
 * @returns null; the page of the provider if the browser opened no window
 * @throws ApiError
 */
export async function openProviderWindow(purpose: ProviderPurpose): Promise<string | null> {
  const opened = globalThis.open('about:blank', '_blank', 'popup,width=520,height=720');
  try {
    const url = await readProviderUrl(purpose, BACK_PATH);
    if (opened === null) return url;
    opened.location.href = url;
    return null;
  } catch (error) {
    opened?.close();
    throw error;
  }
}

const openChannel = (): BroadcastChannel => new BroadcastChannel('latchkey-provider');

/** Reports that the window is back from the provider, to the pages that wait for it. */
export function reportBack(): void {
  const channel = openChannel();
  // The rule is about windows: a channel has no target origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  channel.postMessage(null);
  channel.close();
}

/** Calls when the window may be back, also when it could not report. @returns ends that */
export function onBack(call: () => void): () => void {
  const channel = openChannel();
  channel.addEventListener('message', call);
  globalThis.addEventListener('focus', call);
  return () => {
    channel.close();
    globalThis.removeEventListener('focus', call);
  };
}

/** Returns who is signed in now; null for nobody, and while the service does not answer. */
export async function readCurrent(): Promise<CurrentOperator | null> {
  try {
    return await callOnce(viewSession, {});
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}
