/**
 * The steps of an installation, as data: a plan is a list of steps, which `--dry-run` prints, an installation applies in order, and
 * an undo reverses by the states in the journal. Each step is idempotent.
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

export type StepsByKind = { readonly [Each in Step as Each['kind']]: Each };

/** Packages of the distribution. The undo purges those that were not installed before. */
export interface PackagesStep {
  readonly kind: 'packages';
  readonly names: readonly string[];
}

/** A system user without home and login. */
export interface UserStep {
  readonly kind: 'user';
  readonly name: string;
}

/** Copies the package that this command was started from. The undo restores the previous version. */
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

/** The mode and group of a file. The group is `root` or the agent's. */
export interface Ownership {
  readonly mode: number;
  readonly group: string;
}

export interface DirectoryStep extends Ownership {
  readonly kind: 'directory';
  readonly path: string;
}

/** A file of the agent. */
export interface FileStep extends Ownership {
  readonly kind: 'file';
  readonly path: string;
  readonly text: string;
  /** Whether an existing file is kept, as a configuration that administrators change. */
  readonly keepsExisting: boolean;
}

/** A change of another owner's file. It fails when the file no longer has the text `before`. */
export interface EditStep {
  readonly kind: 'edit';
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** A certificate that certbot obtains. */
export interface CertificateStep {
  readonly kind: 'certificate';
  readonly domain: string;
  readonly email: string;
  /** The directory URL of an authority other than certbot's default. */
  readonly acmeServer: string | null;
  readonly challenge:
    | { readonly kind: 'standalone' }
    | { readonly kind: 'webroot'; readonly directory: string };
}

/**
 * Installs the certificate that the agent itself presents: a copy of certbot's or of given files, or a self-signed one, which
 * is enough behind a proxy that does not verify it.
 */
export interface OwnCertificateStep {
  readonly kind: 'own-certificate';
  readonly domain: string;
  readonly source:
    | { readonly kind: 'files'; readonly certificate: string; readonly key: string }
    | { readonly kind: 'self-signed' };
}

/** Creates the authority for client certificates, its revocation list, and the proxy's own client certificate. */
export interface AuthorityStep {
  readonly kind: 'authority';
  readonly domain: string;
  /** The address that viewers connect to, such as `wss://db-1.example.com:4096`, for later bundles. */
  readonly address?: string;
  readonly withProxyCertificate: boolean;
}

/** Runs `nginx -t`, compares its warnings with the earlier ones, and reloads nginx. */
export interface NginxStep {
  readonly kind: 'nginx';
  /** Whether to test the health route afterwards, which requires an earlier step with the route. */
  readonly probesRoute: boolean;
}

/** Enables and starts a unit, and restarts it when an earlier step changed a file that it reads. */
export interface ServiceStep {
  readonly kind: 'service';
  readonly unit: string;
}

/** Opens a port in the active firewall. */
export interface FirewallStep {
  readonly kind: 'firewall';
  readonly tool: 'firewalld' | 'nft' | 'ufw';
  readonly port: number;
}
