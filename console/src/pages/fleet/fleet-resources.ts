/** The path of the page that edits the list. */
export const EDIT_PATH = '/fleet/servers';

/** Returns the address of the page of an agent, without a slash at its end. */
export function urlOf(address: string): string {
  const [host = ''] = address.split('/', 1);
  const path = address.slice(host.length);
  const port = host.includes(':') || path !== '' ? '' : ':4096';
  return `https://${host}${port}${path}`;
}
