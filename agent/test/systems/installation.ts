/** A machine on which the agent is installed, reinstalled, upgraded and removed. */
import { type Acme, ACME_SERVER, startAcme } from './acme.ts';
import type { Credentials } from './request.ts';
import type { Cell } from './cells.ts';
import type { Outcome } from './commands.ts';
import { Machine } from './machine.ts';
import type { Package, Packages } from './packages.ts';
import { DOMAIN, OWN_ROOT, prepare } from './web-servers.ts';

/** The limit of certbot on a slow machine. */
const TIMEOUT_MS = 90_000;

export class Installation implements AsyncDisposable {
  readonly cell: Cell;
  readonly machine: Machine;
  readonly #acme: Acme;

  private constructor(cell: Cell, machine: Machine, acme: Acme) {
    this.cell = cell;
    this.machine = machine;
    this.#acme = acme;
  }

  /** The machine of its owner, before the installation. */
  static async prepare(cell: Cell, { binds }: Packages): Promise<Installation> {
    const machine = await Machine.boot(cell.release, binds);
    try {
      const acme = await startAcme(machine);
      await prepare(machine, cell.webServer);
      return new Installation(cell, machine, acme);
    } catch (error) {
      await machine[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The same machine with other options and expectations from now on. */
  expecting(change: Pick<Cell, 'mode' | 'expected'>): Installation {
    return new Installation({ ...this.cell, ...change }, this.machine, this.#acme);
  }

  /**
   * Returns the certificate that a client trusts: the authority's root, or the owner's where the domain had its certificate
   * before.
   */
  get ca(): string {
    return this.usesOwnCertificate ? this.machine.read(OWN_ROOT) : this.#acme.root;
  }

  /** Whether certbot is not needed. */
  get usesOwnCertificate(): boolean {
    const { webServer, expected } = this.cell;
    return webServer === 'nginx with the domain over https' && expected === 'proxy';
  }

  /**
   * Runs the command as an administrator types it.
   * @param prefix a program that runs it, such as `timeout`
   */
  install(
    { command }: Package,
    args: readonly string[] = [],
    prefix: readonly string[] = [],
  ): Promise<Outcome> {
    const { mode, mutualTls } = this.cell;
    const env = {
      LATCHKEY_DOMAIN: DOMAIN,
      LATCHKEY_EMAIL: 'ops@example.test',
      LATCHKEY_ACME_SERVER: ACME_SERVER,
      ...(mode === 'auto' ? {} : { LATCHKEY_INSTALL_MODE: mode }),
      ...(mutualTls ? { LATCHKEY_MTLS: 'yes' } : {}),
    };
    return this.machine.attempt([...prefix, command, 'install', ...args], {
      env,
      timeoutMs: TIMEOUT_MS,
    });
  }

  /** Without the options of the first installation. */
  upgrade({ command }: Package): Promise<Outcome> {
    return this.machine.attempt([command, 'install'], { timeoutMs: TIMEOUT_MS });
  }

  uninstall(): Promise<Outcome> {
    return this.machine.attempt(['latchkey-agent', 'uninstall'], { timeoutMs: TIMEOUT_MS });
  }

  /** Creates a client certificate as an administrator does, and unpacks it as a viewer does. */
  async createClient(name: string): Promise<Credentials> {
    const create = `cd /root && latchkey-agent client-cert create ${name} && tar -xzf ${name}.tar.gz`;
    await this.machine.succeed(['sh', '-c', create]);
    const read = (file: string): string => this.machine.read(`/root/${name}/${file}`);
    return { ca: this.ca, cert: read('client.pem'), key: read('client.key') };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.machine[Symbol.asyncDispose]();
  }
}
