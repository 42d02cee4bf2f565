/**
 * What an installation does, as data: a plan is a list of these, printed by `--dry-run`, applied in order, and undone in the
 * opposite order from what the journal kept of the time before. Each kind holds by itself: applied to a machine where it is
 * done already, it changes nothing.
 */
export type Step =
  | PackagesStep
  | UserStep
  | ProgramStep
  | LinkStep
  | DirectoryStep
  | FileStep
  | EditStep
  | CertificateStep
  | OwnCertificateStep
  | AuthorityStep
  | NginxStep
  | ServiceStep
  | FirewallStep;

/** Packages of the distribution. Undone, those that were not there before are purged. */
export interface PackagesStep {
  readonly kind: 'packages';
  readonly names: readonly string[];
}

/** The system user, without a home, that cannot log in. */
export interface UserStep {
  readonly kind: 'user';
  readonly name: string;
}

/** Copies the package that this command was started from. Undone, the version before comes back. */
export interface ProgramStep {
  readonly kind: 'program';
  readonly from: string;
  readonly to: string;
}

export interface LinkStep {
  readonly kind: 'link';
  readonly path: string;
  readonly target: string;
}

/** Who may read a file. The group is `root` or the agent's. */
export interface Ownership {
  readonly mode: number;
  readonly group: string;
}

export interface DirectoryStep extends Ownership {
  readonly kind: 'directory';
  readonly path: string;
}

/** A file that is ours as a whole. */
export interface FileStep extends Ownership {
  readonly kind: 'file';
  readonly path: string;
  readonly text: string;
  /** A configuration that people change stays as it is when it is there. */
  readonly keepsExisting: boolean;
}

/** A change within somebody else's file. Nothing is written when the file is no longer what was read. */
export interface EditStep {
  readonly kind: 'edit';
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** A certificate of a public authority, by certbot. */
export interface CertificateStep {
  readonly kind: 'certificate';
  readonly domain: string;
  readonly email: string;
  /** The directory address of another authority than certbot's default. */
  readonly acmeServer: string | null;
  readonly challenge:
    | { readonly kind: 'standalone' }
    | { readonly kind: 'webroot'; readonly directory: string };
}

/**
 * Puts the certificate that the agent itself shows into place: a copy of certbot's or of given files, or a self-signed one,
 * which is enough behind a proxy that does not verify it.
 */
export interface OwnCertificateStep {
  readonly kind: 'own-certificate';
  readonly domain: string;
  readonly source:
    | { readonly kind: 'files'; readonly certificate: string; readonly key: string }
    | { readonly kind: 'self-signed' };
}

/** The own authority for client certificates, its list of revocations, and the proxy's own client certificate. */
export interface AuthorityStep {
  readonly kind: 'authority';
  readonly domain: string;
  /** What viewers connect to, such as `wss://db-1.example.com:4096`, for the bundles that are made later. */
  readonly address?: string;
  readonly withProxyCertificate: boolean;
}

/** `nginx -t`, its warnings compared with those before, then a reload. */
export interface NginxStep {
  readonly kind: 'nginx';
  /** Whether the health route must then answer; it cannot while there is only what answers the challenge. */
  readonly probesRoute: boolean;
}

/** A unit that is enabled and runs, restarted when an earlier step changed what it reads. */
export interface ServiceStep {
  readonly kind: 'service';
  readonly unit: string;
}

/** Opens a port in the firewall that is active, only when asked for. */
export interface FirewallStep {
  readonly kind: 'firewall';
  readonly tool: 'firewalld' | 'nft' | 'ufw';
  readonly port: number;
}
