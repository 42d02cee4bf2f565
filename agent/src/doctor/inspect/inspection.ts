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

/** The facts that the checks examine. Null is unknown. */
export interface Inspection {
  readonly now: Date;
  readonly isRoot: boolean;
  /** Null where the agent was not installed by its installer. */
  readonly installed: InstalledFacts | null;
  readonly configuration: ConfigurationStatus;
  readonly unit: UnitStatus | null;
  /** The listeners on ports 80, 443 and the agent's. */
  readonly listeners: readonly Listener[];
  /** Why the agent does not answer on its own port, as a sentence; null when it does. */
  readonly agentFault: string | null;
  readonly domain: DomainStatus | null;
  /** Null where nginx is not installed. */
  readonly nginx: NginxFacts | null;
  /** Null without a proxy. */
  readonly proxy: ProxyStatus | null;
  readonly origins: readonly OriginStatus[];
  readonly firewall: FirewallStatus;
  /** Null where SELinux is not enforced. */
  readonly selinux: SelinuxFacts | null;
  /** The certificate that certbot renews for the domain. */
  readonly renewal: CertificateFacts | null;
  /** The answers of the domain's addresses to challenges; empty where no renewal needs them. */
  readonly challenges: readonly ChallengeAnswer[];
  /** Whether the agent has a copy of an older certificate than certbot's. */
  readonly isCertificateOutdated: boolean;
  readonly revocations: RevocationsStatus | null;
  /** Whether the clock is synchronized; null when unknown. */
  readonly isClockSynchronized: boolean | null;
}

export type ConfigurationStatus =
  | {
      readonly kind: 'read';
      readonly path: string;
      readonly config: AgentConfig;
      /** The problems of its files and port. */
      readonly findings: Findings;
      /** Files that the agent's user may not read. */
      readonly unreadable: readonly string[];
    }
  | { readonly kind: 'invalid'; readonly path: string; readonly problems: readonly string[] };

/** From `systemctl show`. */
export interface UnitStatus {
  readonly isLoaded: boolean;
  readonly activeState: string;
  readonly result: string;
  readonly isEnabled: boolean;
}

export interface DomainStatus {
  readonly name: string;
  readonly addresses: readonly string[];
  /** The error of the resolver; null when it answered. */
  readonly resolverFault: string | null;
  readonly ownAddresses: readonly string[];
}

/** The answers of the local proxy on port 443 for the domain. */
export interface ProxyStatus {
  readonly health: Answer;
  /** Without a client certificate. */
  readonly route: Answer;
  /** With a certificate of our authority; null without mutual TLS, or when it cannot be read. */
  readonly routeWithCertificate: Answer | null;
}

export type Answer =
  | {
      readonly status: number;
      readonly body: string;
      /** Whether the agent itself refused, and not a proxy in front of it. */
      readonly isRefusedByAgent: boolean;
    }
  | {
      readonly status: null;
      readonly fault: string;
      /** The error code, such as `ECONNREFUSED`. */
      readonly code: string;
    };

/** A page's origin in `allowed_origins`, and who lets it read the reason of a refusal; null when there was no answer. */
export interface OriginStatus {
  readonly origin: string;
  readonly isAllowedByAgent: boolean | null;
  /** Null also without a proxy. */
  readonly isPassedByProxy: boolean | null;
}

export interface FirewallStatus {
  readonly tool: HostFacts['firewall'];
  /** The ports that ufw or firewalld allow, or that rules of nftables or iptables name; null where that is unknown. */
  readonly openPorts: readonly number[] | null;
  /** The ports that the permanent configuration of firewalld allows; it may differ from the runtime one. */
  readonly permanentPorts?: readonly number[];
}

export interface RevocationsStatus {
  readonly path: string;
  /** When the list expires; null when it names no time. */
  readonly nextUpdate: Date | null;
  readonly isTimerActive: boolean;
}
