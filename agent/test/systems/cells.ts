/** The cells of the systems test: what is installed where, and the expected mode. */
import type { Release } from './trees.ts';
import { WEB_SERVERS, type WebServer } from './web-servers.ts';

export interface Cell {
  readonly release: Release;
  readonly webServer: WebServer;
  /** The options of the installation. */
  readonly mode: RequestedMode;
  readonly mutualTls: boolean;
  readonly expected: Expected;
}

type RequestedMode = 'auto' | 'standalone' | 'proxy';

/**
 * The resulting mode; `manual` where instructions are printed, `refused` where the installer refuses. Both leave the machine
 * as it was.
 */
type Expected = 'standalone' | 'proxy' | 'manual' | 'refused';

const BESIDE_NGINX = { auto: 'proxy', standalone: 'standalone', proxy: 'proxy' } as const;

const EXPECTED: Record<WebServer, Record<RequestedMode, Expected>> = {
  // nginx is installed there, too, but does not run.
  'no web server': { auto: 'standalone', standalone: 'standalone', proxy: 'refused' },
  'nginx with another site': BESIDE_NGINX,
  'nginx with the domain over http': BESIDE_NGINX,
  'nginx with the domain over https': BESIDE_NGINX,
  // Apache listens on port 80, which the issue of a certificate needs.
  'Apache on 80': { auto: 'manual', standalone: 'refused', proxy: 'manual' },
};

export const ALL_CELLS: readonly Cell[] = (['bookworm', 'trixie'] as const).flatMap((release) =>
  WEB_SERVERS.flatMap((webServer) =>
    (['auto', 'standalone', 'proxy'] as const).flatMap((mode) =>
      [false, true].map((mutualTls) => {
        return { release, webServer, mode, mutualTls, expected: EXPECTED[webServer][mode] };
      }),
    ),
  ),
);

export function nameCell({ release, webServer, mode, mutualTls, expected }: Cell): string {
  const security = mutualTls ? 'mutual TLS' : 'TLS';
  return `${release}, ${webServer}, ${mode}, ${security}: ${expected}`;
}
