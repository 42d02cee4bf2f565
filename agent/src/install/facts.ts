/** The facts of a machine that a plan depends on. `detect/` reads them. */
export interface HostFacts {
  readonly isRoot: boolean;
  readonly hasSystemd: boolean;
  /** Whether packages are installed by apt. */
  readonly hasApt: boolean;
  readonly hasCertbot: boolean;
  readonly hasOpenssl: boolean;
  /** The path of smartctl; null where it is not installed. */
  readonly smartctl: string | null;
  /** The path of nvidia-modprobe, which comes with the driver of NVIDIA; null without it. */
  readonly nvidiaModprobe: string | null;
  /** The directory of the package that this command was started from; null when it runs from its sources. */
  readonly packageDirectory: string | null;
  /** Of os-release: `debian`, `12`. */
  readonly distribution: { readonly id: string; readonly versionId: string; readonly name: string };
  /** Whether the machine has an IPv6 address, so that nginx may listen on one. */
  readonly hasIpv6: boolean;
  /** The sockets that listen on ports 80, 443 and the agent's. */
  readonly listeners: readonly Listener[];
  /** Null where nginx is not installed. */
  readonly nginx: NginxFacts | null;
  /** The firewall that refuses connections; `iptables` is the legacy one, whose rules nft does not list. */
  readonly firewall: 'firewalld' | 'iptables' | 'nft' | 'none' | 'ufw';
  /** Whether ufw is active and refuses port 80 for certain. */
  readonly isPort80Refused: boolean;
  /** Null where SELinux is not enforced. */
  readonly selinux: SelinuxFacts | null;
  /** The machine's own addresses, and those of the domain in the DNS (none where it has no record). */
  readonly addresses: readonly string[];
  readonly domainAddresses: readonly string[];
  /** The error of the resolver, such as `ETIMEOUT`; null when it answered. */
  readonly resolverFault: string | null;
  /** The certificate of certbot for the domain. */
  readonly certificate: CertificateFacts | null;
  /** Configurations that name certificates of certbot, without the files of an installation. */
  readonly certificateUses: readonly CertificateUse[];
  /** certbot's names of the certificates whose renewal needs answers from our challenge directory. */
  readonly challenged: readonly string[];
  /** Why the given certificate or key cannot be used, as a sentence. */
  readonly givenCertificateFault: string | null;
  /** The installation that is there. */
  readonly installed: InstalledFacts | null;
  /** The agent's configuration; null where there is none, and where it is invalid, which is one of the faults. */
  readonly configured: ConfiguredFacts | null;
  /** Files that cannot be parsed, as sentences: nothing is planned over them. */
  readonly faults: readonly string[];
}

/** The permissions of a web server by the SELinux policy. */
export interface SelinuxFacts {
  readonly webServerMayConnect: boolean;
  /** Whether the label of the challenge directory is readable for a web server. */
  readonly webServerMayReadChallenges: boolean;
}

export interface Listener {
  readonly port: number;
  readonly address: string;
  /** Null when the process is not visible. */
  readonly process: ListenerProcess | null;
}

export interface ListenerProcess {
  readonly pid: number;
  readonly name: string;
  /** Its systemd service: `nginx.service`. */
  readonly unit: string | null;
}

export interface NginxFacts {
  /** From `nginx -v`: `1.22.1`. */
  readonly version: string;
  readonly isRunning: boolean;
  /** The files of `nginx -T`, the main one first; empty when nginx rejects its configuration. */
  readonly files: readonly NginxFile[];
  /** The warnings of `nginx -t` before the installation. */
  readonly warnings: readonly string[];
  /** Why nginx rejects its configuration. */
  readonly fault: string | null;
  /** Why the running nginx does not read these files, as a sentence. */
  readonly foreign: string | null;
}

export interface NginxFile {
  readonly path: string;
  /** The path after links are resolved. */
  readonly realPath: string;
  readonly text: string;
  readonly isWritable: boolean;
}

export interface CertificateUse {
  readonly name: string;
  /** The file or link that names it. */
  readonly path: string;
}

export interface CertificateFacts {
  /** certbot's name for it; not the domain's where another certificate covers the domain. */
  readonly name: string;
  /** The directory of the newest files: `/etc/letsencrypt/live/<name>`. */
  readonly directory: string;
  readonly expiresAt: Date;
  readonly isExpired: boolean;
  /** How certbot renews it: `standalone`, `webroot`, `nginx` … */
  readonly authenticator: string;
  /** The challenge directories, for `webroot`. */
  readonly webroots: readonly string[];
}

export interface InstalledFacts {
  readonly version: string;
  readonly mode: InstallMode;
  readonly domain: string;
  readonly proxyPath: string;
  readonly mutualTls: boolean;
  /** Whether the administrator configures the web server in front of the agent. */
  readonly proxyByHand: boolean;
  /** The given certificate; null where certbot issued it, or nginx had one. */
  readonly certificateFiles: CertificateFiles | null;
  /** Whether the administrator accepted that the domain has other addresses than this machine. */
  readonly skipsDnsCheck: boolean;
}

/** The agent's configuration, which the administrator may have changed. */
export interface ConfiguredFacts {
  readonly host: string;
  readonly port: number;
  readonly intervalSeconds: number;
  /** `limits.connections_per_address`. */
  readonly viewersPerAddress: number;
  /** Every setting of the file by its name, such as `viewers.tokens_file`. */
  readonly settings: ReadonlyMap<string, unknown>;
}

export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

export type InstallMode = 'proxy' | 'standalone';
