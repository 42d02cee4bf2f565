import type { Context } from '#server/context.ts';

/** Whether subscriptions are confirmed from the mailbox: unless that is switched off, or no mail is sent. */
export function usesDoubleOptIn({ config, mail }: Pick<Context, 'config' | 'mail'>): boolean {
  return config.subscribers.doubleOptIn && mail !== null;
}
