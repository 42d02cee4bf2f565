import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

import { messageOf } from '#server/lib/unknown-values.ts';

import { CertificateFixture, lacksOpenssl } from '../../../agent/test/certificates.ts';
import { buildDriver, findMissingNeed, type ClientUnderTest } from '../driver/clients.ts';
import type { DriverProgram } from '../driver/driver.ts';
import { startRealService } from '../service/real-service.ts';
import { compareClients } from './compare-clients.ts';
import type { Outcome, SceneReport } from './outcome.ts';
import { playScene } from './play-scene.ts';
import type { Theme } from './scene.ts';
import type { KeptFile } from './stage.ts';

/** What to play, and whom to inform. */
export interface PlayOptions {
  readonly clients: readonly ClientUnderTest[];
  readonly themes: readonly Theme[];
  /** Ends the run after the scene that is played. */
  readonly stop: AbortSignal;
  readonly onBuilt?: (client: string, driver: DriverOfClient) => void;
  readonly onScene?: (report: SceneReport, index: number) => void;
}

/** A built driver, or why there is none. */
export type DriverOfClient =
  | { readonly program: DriverProgram }
  | { readonly outcome: Exclude<Outcome, { readonly status: 'ok' }> };

/** Builds every driver, starts the real service, and plays each scene with each client. */
export async function playAll(options: PlayOptions): Promise<SceneReport[]> {
  await using resources = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-drivers-'));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const drivers = await buildAll(options, directory);
  const service = resources.use(await startRealService());
  const fixture = lacksOpenssl === false ? resources.use(new CertificateFixture()) : null;
  const certificate = fixture?.createRoot('unknown').issueServer() ?? null;
  const keptFiles = new Map<string, KeptFile>();

  const reports: SceneReport[] = [];
  for (const theme of options.themes) {
    for (const scene of theme.scenes) {
      if (options.stop.aborted) return reports;
      const concurrency = theme.changesService === true ? 1 : availableParallelism();
      const outcomes = await playWithEach(drivers, concurrency, async (clientName, program) =>
        playScene(scene, { service, certificate, keptFiles, clientName, program }),
      );
      const report = { theme: theme.name, scene: scene.name, outcomes: compareClients(outcomes) };
      reports.push(report);
      options.onScene?.(report, reports.length);
    }
  }
  return reports;
}

/** Plays a scene with several clients at a time. @returns the outcomes in the order of the drivers */
async function playWithEach(
  drivers: ReadonlyMap<string, DriverOfClient>,
  concurrency: number,
  play: (clientName: string, program: DriverProgram) => Promise<Outcome>,
): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  const left = drivers.entries();
  const playNext = async (): Promise<void> => {
    for (const [name, driver] of left) {
      const outcome = 'outcome' in driver ? driver.outcome : await play(name, driver.program);
      outcomes.set(name, outcome);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, playNext));
  return new Map(
    [...drivers.keys()].flatMap((name) => {
      const outcome = outcomes.get(name);
      return outcome === undefined ? [] : [[name, outcome] as const];
    }),
  );
}

async function buildAll(
  { clients, onBuilt }: PlayOptions,
  directory: string,
): Promise<Map<string, DriverOfClient>> {
  const drivers = new Map<string, DriverOfClient>();
  for (const client of clients) {
    const driver = await build(client, directory);
    drivers.set(client.name, driver);
    onBuilt?.(client.name, driver);
  }
  return drivers;
}

async function build(client: ClientUnderTest, directory: string): Promise<DriverOfClient> {
  const missing = findMissingNeed(client);
  if (missing !== null) return { outcome: { status: 'skipped', reason: missing } };
  try {
    const out = await mkdtemp(join(directory, `${client.name}-`));
    return { program: await buildDriver(client, out) };
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    return {
      outcome: {
        status: 'differs',
        reason: `could not build its driver: ${messageOf(error)}\n${output}`,
      },
    };
  }
}
