/** All that the planner knows of a machine. `detect/` reads it; tests write it down. */
export interface HostFacts {
  readonly isRoot: boolean;
  readonly hasSystemd: boolean;
  /** Of os-release: `debian`, `12`. */
  readonly distribution: { readonly id: string; readonly versionId: string; readonly name: string };
  /** Whether the machine has an IPv6 address, so that nginx may listen on one. */
  readonly hasIpv6: boolean;
  /** Who listens on the ports that matter: 80, 443 and the agent's. */
  readonly listeners: readonly Listener[];
  /** Null where nginx is not installed. */
  readonly nginx: NginxFacts | null;
  readonly firewall: 'none' | 'nft' | 'ufw';
  /** The machine's own addresses, and those that the domain's name leads to (empty when it has none). */
  readonly addresses: readonly string[];
  readonly domainAddresses: readonly string[];
  /** A certificate that certbot keeps for the domain. */
  readonly certificate: CertificateFacts | null;
  /** What an earlier installation left. */
  readonly installed: InstalledFacts | null;
}

export interface Listener {
  readonly port: number;
  readonly address: string;
  /** Null when its process is not to be seen. */
  readonly process: { readonly pid: number; readonly name: string } | null;
}

export interface NginxFacts {
  /** As `nginx -v` says it: `1.22.1`. */
  readonly version: string;
  readonly isRunning: boolean;
  /** The files that nginx loads, the main one first, as `nginx -T` prints them; empty when it refuses its configuration. */
  readonly files: readonly NginxFile[];
  /** What `nginx -t` warns of before anything is changed. */
  readonly warnings: readonly string[];
  /** Why nginx refuses its configuration. */
  readonly fault: string | null;
}

export interface NginxFile {
  /** As `nginx -T` names it. */
  readonly path: string;
  /** Where it lies once links are followed; the path itself where there are none. */
  readonly realPath: string;
  readonly text: string;
  readonly isWritable: boolean;
}

export interface CertificateFacts {
  readonly certificate: string;
  readonly key: string;
  readonly expiresAt: Date;
  /** How certbot renews it: `standalone`, `webroot`, `nginx` … */
  readonly authenticator: string;
}

export interface InstalledFacts {
  readonly version: string;
  readonly mode: InstallMode;
  readonly domain: string;
  readonly proxyPath: string;
  readonly mutualTls: boolean;
}

export type InstallMode = 'proxy' | 'standalone';
