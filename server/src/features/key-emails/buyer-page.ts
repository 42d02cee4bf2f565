import type { Config } from '#server/config/config.ts';

/**
 * Returns the address of the page for buyers, for links in e-mails; null without https, because the page then works on the
 * machine of the service only.
 */
export function findBuyerPage({ http }: Pick<Config, 'http'>): string | null {
  return http.publicUrl.startsWith('https:') ? `${http.publicUrl}/my` : null;
}
