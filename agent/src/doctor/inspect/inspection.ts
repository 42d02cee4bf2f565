import type { AgentConfig } from '../../config/config.ts';
import type { Findings } from '../../config/check-environment.ts';
import type {
  CertificateFacts,
  HostFacts,
  InstalledFacts,
  Listener,
  NginxFacts,
  SelinuxFacts,
} from '../../install/facts.ts';
import type { ChallengeAnswer } from '../../install/verify/challenge.ts';

/** All that the checks know of a machine. What could not be looked at is null. */
export interface Inspection {
  readonly now: Date;
  readonly isRoot: boolean;
  /** Null where the agent was not installed by its installer. */
  readonly installed: InstalledFacts | null;
  readonly configuration: ConfigurationStatus;
  readonly unit: UnitStatus | null;
  /** On 80, 443 and the agent's port. */
  readonly listeners: readonly Listener[];
  /** Why the agent does not answer on its own port, as a sentence; null when it does. */
  readonly agentFault: string | null;
  readonly domain: DomainStatus | null;
  /** Null where nginx is not installed. */
  readonly nginx: NginxFacts | null;
  /** Null where there is no proxy to ask. */
  readonly proxy: ProxyStatus | null;
  readonly firewall: FirewallStatus;
  /** Null where SELinux is not enforced. */
  readonly selinux: SelinuxFacts | null;
  /** The certificate that certbot renews for the domain. */
  readonly renewal: CertificateFacts | null;
  /** What the domain's addresses answer to challenges; empty where no certificate is renewed by our answers. */
  readonly challenges: readonly ChallengeAnswer[];
  /** Whether the agent has another certificate than certbot keeps; false where it has none of certbot's. */
  readonly isCopyOld: boolean;
  readonly revocations: RevocationsStatus | null;
  /** Whether something sets the clock; null when nobody says. */
  readonly isClockSynchronized: boolean | null;
}

export type ConfigurationStatus =
  | {
      readonly kind: 'read';
      readonly path: string;
      readonly config: AgentConfig;
      /** Of the files and the port that it names. */
      readonly findings: Findings;
      /** Files that the agent's user may not read. */
      readonly unreadable: readonly string[];
    }
  | { readonly kind: 'wrong'; readonly path: string; readonly problems: readonly string[] };

/** As `systemctl show` says. */
export interface UnitStatus {
  readonly isLoaded: boolean;
  readonly activeState: string;
  readonly result: string;
  readonly isEnabled: boolean;
}

export interface DomainStatus {
  readonly name: string;
  /** Where it leads. */
  readonly addresses: readonly string[];
  /** The error of the resolver, where it could not be asked. */
  readonly resolverFault: string | null;
  /** The machine's own. */
  readonly ownAddresses: readonly string[];
}

/** What the proxy answers on this machine's port 443 to the domain's name. */
export interface ProxyStatus {
  readonly health: Answer;
  /** Without a client certificate. */
  readonly route: Answer;
  /** Whether the agent admits one that the own authority signed; null without mutual TLS, or when it cannot be read. */
  readonly routeWithCertificate: Answer | null;
}

export type Answer =
  | { readonly status: number; readonly body: string; readonly type: string }
  | { readonly status: null; readonly fault: string };

export interface FirewallStatus {
  readonly tool: HostFacts['firewall'];
  /** The ports that ufw or firewalld let in, or that rules of nftables or iptables name; null where its rules do not tell. */
  readonly openPorts: readonly number[] | null;
  /** The ports that the permanent configuration of firewalld lets in; it may differ from the runtime one. */
  readonly permanentPorts?: readonly number[];
}

export interface RevocationsStatus {
  readonly path: string;
  /** Until when the list holds; null when it names no time. */
  readonly nextUpdate: Date | null;
  readonly isTimerActive: boolean;
}
