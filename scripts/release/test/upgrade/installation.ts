/** Data directories with the data of an earlier release, on which the packed service of this release and of the next one runs. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

import {
  createServiceHome,
  type EarlyEnd,
  type ServiceHome,
  type ServiceProcess,
} from '../../../../server/test/service-process.ts';
import {
  ALLOW_LOCAL_RECEIVERS,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../../../server/test/webhook-receiver.ts';
import type { Fixture } from '../../upgrade/fixture.ts';
import { programOf, runPackage } from '../../upgrade/service-packages.ts';
import { CHECKS, PAYMENT_SECRET } from './checks.ts';

/** The programs of a release: its package, and a directory for its services. */
interface Program {
  readonly tree: string;
  readonly home: ServiceHome;
}

/** What an operator has after a release: its data, its secrets, and the programs of later releases. */
export class Installation<Version extends string> implements AsyncDisposable {
  readonly #fixture: Fixture;
  readonly #programs: ReadonlyMap<Version, Program>;
  readonly #directory: string;
  readonly #receiver: WebhookReceiver;
  #data: string;

  private constructor(
    fixture: Fixture,
    programs: ReadonlyMap<Version, Program>,
    directory: string,
    receiver: WebhookReceiver,
  ) {
    this.#fixture = fixture;
    this.#programs = programs;
    this.#directory = directory;
    this.#receiver = receiver;
    this.#data = join(directory, 'data');
  }

  /**
   * Opens an installation without a database.
   * @param packages the directory of the package of each version
   */
  static async open<Version extends string>(
    fixture: Fixture,
    packages: ReadonlyMap<Version, string>,
  ): Promise<Installation<Version>> {
    await using opened = new AsyncDisposableStack();
    const port = Number(new URL(fixture.endpoint.url).port);
    const receiver = opened.use(await startWebhookReceiver(port));
    const programs = new Map<Version, Program>();
    for (const [version, tree] of packages) {
      const home = opened.use(await createServiceHome(programOf(tree)));
      programs.set(version, { tree, home });
    }
    const directory = await mkdtemp(join(tmpdir(), 'latchkey-installation-'));
    opened.defer(() => rm(directory, { recursive: true, force: true }));
    const installation = new Installation(fixture, programs, directory, receiver);
    await installation.useNewDirectory('data');
    opened.move();
    return installation;
  }

  get dataDirectory(): string {
    return this.#data;
  }

  /** Continues with another data directory. */
  useDirectory(path: string): void {
    this.#data = path;
  }

  #find(version: Version): Program {
    const found = this.#programs.get(version);
    assert.ok(found !== undefined);
    return found;
  }

  /** Continues with a data directory without a database, and with a copy of the master secret. */
  async useNewDirectory(name: string): Promise<void> {
    this.#data = join(this.#directory, name);
    await mkdir(this.#data, { mode: 0o700 });
    await writeFile(join(this.#data, 'secret'), this.#fixture.master_secret, { mode: 0o600 });
  }

  /** The settings of its programs. */
  get settings() {
    return {
      LATCHKEY_DATA_DIR: this.#data,
      LATCHKEY_CATALOG: this.#fixture.catalog,
      LATCHKEY_STANDARD_WEBHOOKS_SECRETS: PAYMENT_SECRET,
      ...ALLOW_LOCAL_RECEIVERS,
    };
  }

  /** Runs a command and returns what it prints. @throws Error when it fails */
  run(version: Version, ...args: readonly string[]): Promise<string> {
    return runPackage(this.#find(version).tree, args, this.settings);
  }

  /** Writes a backup and returns its path. */
  async backUp(version: Version, name: string): Promise<string> {
    const file = join(this.#directory, `${name}.zst`);
    await this.run(version, 'backup', file);
    return file;
  }

  /** Starts a service that must end before it listens. */
  runToEnd(version: Version): Promise<EarlyEnd> {
    return this.#find(version).home.runToEnd(this.settings);
  }

  /** Starts a service. */
  start(version: Version): Promise<ServiceProcess> {
    return this.#find(version).home.start(this.settings);
  }

  /** Runs every check on a service, and stops it. */
  async check(t: TestContext, version: Version): Promise<void> {
    const service = await this.start(version);
    try {
      const run = (...args: readonly string[]) => this.run(version, ...args);
      const [fixture, receiver] = [this.#fixture, this.#receiver];
      const checked = { url: service.url, fixture, receiver, run };
      for (const [name, check] of Object.entries(CHECKS)) await t.test(name, () => check(checked));
    } finally {
      assert.deepEqual(await service.stop(), { code: 0, signal: null });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { home } of this.#programs.values()) await home[Symbol.asyncDispose]();
    await this.#receiver[Symbol.asyncDispose]();
    await rm(this.#directory, { recursive: true, force: true });
  }
}
