/** Data directories with the data of an earlier release, on which the packed service of this release and of the next one runs. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

import {
  createServiceHome,
  type EarlyEnd,
  type ServiceHome,
} from '../../../../server/test/service-process.ts';
import {
  ALLOW_LOCAL_RECEIVERS,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../../../server/test/webhook-receiver.ts';
import type { Fixture } from '../../upgrade/fixture.ts';
import { programOf, runPackage, type ServicePackages } from '../../upgrade/service-packages.ts';
import { CHECKS, PAYMENT_SECRET } from './checks.ts';

export type Version = 'present' | 'next';

/** What an operator has after a release: its data, its secrets, and the programs of later releases. */
export class Installation implements AsyncDisposable {
  readonly #fixture: Fixture;
  readonly #packages: ServicePackages;
  readonly #homes: Readonly<Record<Version, ServiceHome>>;
  readonly #receiver: WebhookReceiver;
  #data: string;

  private constructor(
    fixture: Fixture,
    packages: ServicePackages,
    homes: Readonly<Record<Version, ServiceHome>>,
    receiver: WebhookReceiver,
  ) {
    this.#fixture = fixture;
    this.#packages = packages;
    this.#homes = homes;
    this.#receiver = receiver;
    this.#data = homes.present.dataDirectory;
  }

  /** Opens an installation without a database. */
  static async open(fixture: Fixture, packages: ServicePackages): Promise<Installation> {
    await using opened = new AsyncDisposableStack();
    const port = Number(new URL(fixture.endpoint.url).port);
    const receiver = opened.use(await startWebhookReceiver(port));
    const homes = {
      present: opened.use(await createServiceHome(programOf(packages.present))),
      next: opened.use(await createServiceHome(programOf(packages.next))),
    };
    const installation = new Installation(fixture, packages, homes, receiver);
    await installation.useNewDirectory('data');
    opened.move();
    return installation;
  }

  /** Continues with a data directory without a database, and with a copy of the master secret. */
  async useNewDirectory(name: string): Promise<void> {
    this.#data = join(this.#homes.present.directory, name);
    await mkdir(this.#data, { mode: 0o700 });
    await writeFile(join(this.#data, 'secret'), this.#fixture.master_secret, { mode: 0o600 });
  }

  get #settings() {
    return {
      LATCHKEY_DATA_DIR: this.#data,
      LATCHKEY_CATALOG: this.#fixture.catalog,
      LATCHKEY_STANDARD_WEBHOOKS_SECRETS: PAYMENT_SECRET,
      ...ALLOW_LOCAL_RECEIVERS,
    };
  }

  /** Runs a command and returns what it prints. @throws Error when it fails */
  run(version: Version, ...args: readonly string[]): Promise<string> {
    return runPackage(this.#packages[version], args, this.#settings);
  }

  /** Writes a backup and returns its path. */
  async backUp(version: Version, name: string): Promise<string> {
    const file = join(this.#homes.present.directory, `${name}.zst`);
    await this.run(version, 'backup', file);
    return file;
  }

  /** Starts a service that must end before it listens. */
  runToEnd(version: Version): Promise<EarlyEnd> {
    return this.#homes[version].runToEnd(this.#settings);
  }

  /** Runs every check on a service, and stops it. */
  async check(t: TestContext, version: Version): Promise<void> {
    const service = await this.#homes[version].start(this.#settings);
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
    await this.#homes.next[Symbol.asyncDispose]();
    await this.#homes.present[Symbol.asyncDispose]();
    await this.#receiver[Symbol.asyncDispose]();
  }
}
