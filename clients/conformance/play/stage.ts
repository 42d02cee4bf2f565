import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Command, DriverProgram } from '../driver/driver.ts';
import { startFaultProxy, type FaultProxy } from '../proxy/fault-proxy.ts';
import { CLIENT_PRODUCTS, ISSUER } from '../service/catalog.ts';
import type { License } from '../service/license.ts';
import type { RealService } from '../service/real-service.ts';
import { SceneClient } from './client.ts';
import { SkippedError } from './scene.ts';
import { Transcript } from './transcript.ts';

/** What a scene may change when it opens a client. */
export interface OpenOptions {
  /** Default: the same one in the whole scene. */
  readonly folder?: string;
  readonly machine?: Readonly<Record<string, unknown>>;
  /** The URL of the service; default: that of the network of the scene. */
  readonly service?: string;
  readonly issuer?: string;
  readonly products?: readonly string[];
  /** The compiled-in keys; default: those that the service published when the scene began. */
  readonly publicKeys?: readonly object[];
  /** The clock of the device; default: the time at which the scene began. Null: that of the system. */
  readonly nowMs?: number | null;
  /** The timeout of a call; default: 10 seconds. */
  readonly timeoutMs?: number;
}

/** What all scenes of a run share. */
export interface StageDependencies {
  readonly service: RealService;
  readonly program: DriverProgram;
  /** The name of the client. */
  readonly clientName: string;
  /** `license.json` of each client that activated a license, by the name of the client. */
  readonly keptFiles: Map<string, KeptFile>;
  /** A certificate that no system trusts; null without openssl. */
  readonly certificate: { readonly cert: string; readonly key: string } | null;
}

/** A file of kept state, and the machine for which it is valid. */
export interface KeptFile {
  readonly text: string;
  readonly machine: Readonly<Record<string, unknown>>;
}

const FILE = 'license.json';

/** Commands of the service replace the environment, which contains it, while they run. */
const TEMPORARY_DIRECTORY = tmpdir();

let networks = 0;

/** What a scene has: clients, a network with faults, and the real service. */
export class Stage implements AsyncDisposable {
  readonly startMs = Date.now();
  readonly transcript = new Transcript(this.startMs);
  readonly machine = { machine_id: `conformance-${randomUUID()}`, os_version: '15.1' };
  readonly dependencies: StageDependencies;
  readonly network: FaultProxy;
  /** The folder of the client; it does not exist until the client creates it. */
  readonly folder: string;
  readonly #publicKeys: readonly object[];
  readonly #resources: AsyncDisposableStack;
  readonly #clients: SceneClient[] = [];

  private constructor(
    dependencies: StageDependencies,
    network: FaultProxy,
    directory: string,
    publicKeys: readonly object[],
    resources: AsyncDisposableStack,
  ) {
    this.dependencies = dependencies;
    this.network = network;
    this.folder = join(directory, 'client');
    this.#publicKeys = publicKeys;
    this.#resources = resources;
  }

  /** Prepares a scene: an empty directory, and a network from an address that the service has not seen. */
  static async prepare(dependencies: StageDependencies): Promise<Stage> {
    await using resources = new AsyncDisposableStack();
    const directory = await mkdtemp(join(TEMPORARY_DIRECTORY, 'latchkey-conformance-'));
    resources.defer(() => rm(directory, { recursive: true, force: true }));
    const { service } = dependencies;
    const options = { service: service.url, clientAddress: nextAddress() };
    const network = resources.use(await startFaultProxy(options));
    const publicKeys = await service.client.listPublicKeys();
    return new Stage(dependencies, network, directory, publicKeys, resources.move());
  }

  /** Issues a license. @param days its term; default: perpetual */
  issue(product?: 'studio' | 'solo' | 'server', days?: number): Promise<License> {
    return this.dependencies.service.issue(product, days);
  }

  /** Starts a client, which must send no request. @param state what is expected of its first state */
  async open(state: object = {}, options: OpenOptions = {}): Promise<SceneClient> {
    const { program } = this.dependencies;
    const { network, transcript } = this;
    const client = new SceneClient({ program, network, transcript });
    this.#clients.push(client);
    await client.do(this.openCommand(options), { state, requests: [] });
    return client;
  }

  /** Starts a client and activates a license for `studio`. */
  async openLicensed(
    options: OpenOptions = {},
  ): Promise<{ client: SceneClient; license: License }> {
    const license = await this.issue();
    const client = await this.open({ kind: 'none' }, options);
    await client.activate(license.key, { result: { ok: true }, state: { kind: 'licensed' } });
    return { client, license };
  }

  /** Ends a client and starts it again. */
  async restart(
    client: SceneClient,
    state: object = {},
    options: OpenOptions = {},
  ): Promise<SceneClient> {
    await client.close();
    return this.open(state, options);
  }

  /** Runs a driver without a client, for commands that need no state. */
  startDriver(): SceneClient {
    const { program } = this.dependencies;
    const client = new SceneClient({ program, network: this.network, transcript: this.transcript });
    this.#clients.push(client);
    return client;
  }

  /** Starts another network to the same service. */
  async openNetwork(
    options: Partial<Parameters<typeof startFaultProxy>[0]> = {},
  ): Promise<FaultProxy> {
    const { service } = this.dependencies;
    const clientAddress = nextAddress();
    return this.#resources.use(
      await startFaultProxy({ service: service.url, clientAddress, ...options }),
    );
  }

  /** Returns the path of another folder of the scene. */
  otherFolder(name: string): string {
    return join(this.folder, '..', name);
  }

  /** Returns the text of the kept state. */
  readFile(folder = this.folder): string {
    return readFileSync(join(folder, FILE), 'utf8');
  }

  /** Returns the kept state. */
  readKept(folder = this.folder): Readonly<Record<string, unknown>> {
    const json: unknown = JSON.parse(this.readFile(folder));
    return typeof json === 'object' && json !== null ? { ...json } : {};
  }

  /** Writes the kept state, as another program or a failing disk does. */
  async writeFile(text: string | Buffer, folder = this.folder): Promise<void> {
    await mkdir(folder, { recursive: true });
    writeFileSync(join(folder, FILE), text);
  }

  /** Returns an address of this computer that is not a loopback address. @throws SkippedError without one */
  outsideAddress(): string {
    const found = Object.values(networkInterfaces())
      .flat()
      .find((each) => each?.family === 'IPv4' && !each.internal);
    if (found === undefined) throw new SkippedError('no network interface');
    return found.address;
  }

  /** Ends every client, which must end in an orderly way, and removes the directory. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = await Promise.allSettled(this.#clients.map((client) => client.close()));
    await Promise.all(this.#clients.map((client) => client.kill()));
    await this.#resources.disposeAsync();
    for (const result of closed) if (result.status === 'rejected') throw result.reason;
  }

  /** Returns the command that opens a client. */
  openCommand({
    service,
    folder,
    machine,
    nowMs = this.startMs,
    ...options
  }: OpenOptions = {}): Command {
    return {
      do: 'open',
      service: service ?? this.network.url,
      issuer: options.issuer ?? ISSUER,
      products: options.products ?? CLIENT_PRODUCTS,
      public_keys: options.publicKeys ?? this.#publicKeys,
      folder: folder ?? this.folder,
      app_version: '1.0.0',
      machine: machine ?? this.machine,
      now_ms: nowMs,
      timeout_ms: options.timeoutMs ?? 10_000,
    };
  }
}

/** Returns another address for each network, because the service limits failed requests by address. */
function nextAddress(): string {
  networks += 1;
  return `10.${networks >> 16}.${(networks >> 8) & 255}.${networks & 255}`;
}
