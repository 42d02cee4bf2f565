/** All that the planner knows of a machine. `detect/` reads it; tests write it down. */
export interface HostFacts {
  readonly isRoot: boolean;
  readonly hasSystemd: boolean;
  /** Whether packages are installed by apt. */
  readonly hasApt: boolean;
  /** Programs that may have to be installed. */
  readonly hasCertbot: boolean;
  readonly hasOpenssl: boolean;
  /** Where smartctl lies; null where it is not installed. */
  readonly smartctl: string | null;
  /** Where nvidia-modprobe lies, which comes with the driver of NVIDIA; null without. */
  readonly nvidiaModprobe: string | null;
  /** The folder of the package that this command was started from; null when it runs from its sources. */
  readonly packageDirectory: string | null;
  /** Of os-release: `debian`, `12`. */
  readonly distribution: { readonly id: string; readonly versionId: string; readonly name: string };
  /** Whether the machine has an IPv6 address, so that nginx may listen on one. */
  readonly hasIpv6: boolean;
  /** Who listens on the ports that matter: 80, 443 and the agent's, which its configuration may have changed. */
  readonly listeners: readonly Listener[];
  /** Null where nginx is not installed. */
  readonly nginx: NginxFacts | null;
  /** What refuses connections on this machine; `iptables` is the legacy one, whose rules nft does not list. */
  readonly firewall: 'firewalld' | 'iptables' | 'nft' | 'none' | 'ufw';
  /** Whether ufw is active and certainly refuses port 80. */
  readonly isPort80Refused: boolean;
  /** Null where SELinux is not enforced. */
  readonly selinux: SelinuxFacts | null;
  /** The machine's own addresses, and those that the domain's name leads to (empty when it has none). */
  readonly addresses: readonly string[];
  readonly domainAddresses: readonly string[];
  /** The error of the resolver, such as `ETIMEOUT`, where it could not be asked for them. */
  readonly resolverFault: string | null;
  /** A certificate that certbot keeps and that is for the domain. */
  readonly certificate: CertificateFacts | null;
  /** Configurations that name certificates of certbot, but for files of an installation. */
  readonly certificateUses: readonly CertificateUse[];
  /** The certificates whose renewal needs answers from our directory for challenges, by certbot's names. */
  readonly challenged: readonly string[];
  /** What is wrong with the certificate and the key that were given, as a sentence. */
  readonly givenCertificateFault: string | null;
  /** What an earlier installation left. */
  readonly installed: InstalledFacts | null;
  /** What the agent's configuration says; null where there is none. One that cannot be read is among the faults. */
  readonly configured: ConfiguredFacts | null;
  /** What is on the machine and cannot be understood, as sentences: nothing is planned over it. */
  readonly faults: readonly string[];
}

/** What the policy of SELinux lets a web server do. */
export interface SelinuxFacts {
  /** Whether it may connect to the agent's port. */
  readonly webServerMayConnect: boolean;
  /** Whether the directory of the challenges has a label that it may read. */
  readonly webServerMayReadChallenges: boolean;
}

export interface Listener {
  readonly port: number;
  readonly address: string;
  /** Null when its process is not to be seen. */
  readonly process: ListenerProcess | null;
}

export interface ListenerProcess {
  readonly pid: number;
  readonly name: string;
  /** systemd's service that it belongs to: `nginx.service`. */
  readonly unit: string | null;
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
  /** Why the nginx that runs does not read these files, as a sentence. */
  readonly foreign: string | null;
}

export interface NginxFile {
  /** As `nginx -T` names it. */
  readonly path: string;
  /** Where it lies once links are followed; the path itself where there are none. */
  readonly realPath: string;
  readonly text: string;
  readonly isWritable: boolean;
}

export interface CertificateUse {
  /** certbot's name for the certificate. */
  readonly name: string;
  /** The file or link that names it. */
  readonly path: string;
}

export interface CertificateFacts {
  /** certbot's name for it: mostly the domain's, and another's where that one covers the domain. */
  readonly name: string;
  /** Where certbot keeps the newest: `/etc/letsencrypt/live/<name>`. */
  readonly directory: string;
  readonly expiresAt: Date;
  readonly isExpired: boolean;
  /** How certbot renews it: `standalone`, `webroot`, `nginx` … */
  readonly authenticator: string;
  /** Where certbot puts the answers to challenges, for `webroot`. */
  readonly webroots: readonly string[];
}

export interface InstalledFacts {
  readonly version: string;
  readonly mode: InstallMode;
  readonly domain: string;
  readonly proxyPath: string;
  readonly mutualTls: boolean;
  /** Whether the web server in front of the agent was set up by a person. */
  readonly proxyByHand: boolean;
  /** The certificate that was given; null where it is certbot's, or nginx had one. */
  readonly certificateFiles: CertificateFiles | null;
  /** Whether the administrator accepted that the domain leads to other addresses than this machine's. */
  readonly skipsDnsCheck: boolean;
}

/** Of the agent's configuration, which its owner may have changed. */
export interface ConfiguredFacts {
  readonly host: string;
  readonly port: number;
  readonly intervalSeconds: number;
  /** `limits.connections_per_address`. */
  readonly viewersPerAddress: number;
  /** Every setting that the file names, as `viewers.tokens_file`, with its value as it is written. */
  readonly settings: ReadonlyMap<string, unknown>;
}

export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

export type InstallMode = 'proxy' | 'standalone';
