/** The data of earlier releases: a backup that each wrote, and the secrets that its users and programs have. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { type Static, Type } from 'typebox';
import { Parse } from 'typebox/value';

/** A folder for each release. */
export const RELEASES = fileURLToPath(new URL('./releases/', import.meta.url));

const Count = Type.Integer({ minimum: 0 });

const Manifest = Type.Object({
  version: Type.String(),
  /** The rows of each table of the backup. */
  tables: Type.Record(Type.String(), Count),
  /** Of the data directory. */
  master_secret: Type.String(),
  /** A license and its activation, and the entitlement that the activation returned. */
  license_key: Type.String(),
  activation_id: Type.String(),
  entitlement: Type.String(),
  trial_license_key: Type.String(),
  /** Of the activation and of the trial. */
  machine_id: Type.String(),
  admin_api_key: Type.String(),
  metrics_api_key: Type.String(),
  operator: Type.Object({ email: Type.String(), password: Type.String() }),
  /** The last entry of the audit log, as `latchkey audit verify --expect` takes it. */
  audit_head: Type.String(),
  /** A receiver of outgoing webhooks on the loopback interface. */
  endpoint: Type.Object({ url: Type.String(), secret: Type.String() }),
  /** `latchkey report machines` of days that are final. */
  report: Type.Object({
    from: Type.String(),
    to: Type.String(),
    rows: Type.Array(Type.Object({ day: Type.String(), machines: Count })),
  }),
});

/** What is known about the data of a release. */
export type FixtureManifest = Readonly<Static<typeof Manifest>>;

/** The data of a release. */
export interface Fixture extends FixtureManifest {
  readonly backup: string;
  readonly catalog: string;
}

/** The paths of the data of a release. */
export function locateFixture(version: string) {
  const directory = join(RELEASES, version);
  const [backup, catalog, manifest] = ['backup.zst', 'catalog.yaml', 'manifest.json'];
  return {
    directory,
    backup: join(directory, backup),
    catalog: join(directory, catalog),
    manifest: join(directory, manifest),
  };
}

/** Reads the data of every release. @throws Error when there is none */
export async function readFixtures(): Promise<Fixture[]> {
  const versions = await readdir(RELEASES);
  if (versions.length === 0) throw new Error(`${RELEASES} has no data of a release.`);
  return Promise.all(versions.sort().map(readFixture));
}

async function readFixture(version: string): Promise<Fixture> {
  const { backup, catalog, manifest } = locateFixture(version);
  const known = Parse(Manifest, JSON.parse(await readFile(manifest, 'utf8')));
  return { ...known, backup, catalog };
}
