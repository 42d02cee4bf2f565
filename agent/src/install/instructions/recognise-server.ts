/** A web server that the installer has instructions for, but does not set up. */
export type OtherServer = 'apache' | 'caddy' | 'haproxy' | 'other';

const KNOWN: Readonly<Record<string, OtherServer>> = {
  apache2: 'apache',
  httpd: 'apache',
  caddy: 'caddy',
  haproxy: 'haproxy',
};

/**
 * Tells which web server a process is.
 * @param processName null when it is not to be seen
 */
export function recogniseServer(processName: string | null): OtherServer {
  return KNOWN[processName ?? ''] ?? 'other';
}
