/** The data that browser tests and screenshots show. */
import { createAudience } from './audience.ts';
import type { TestService } from '../../../server/test/harness.ts';
import { seedFind } from './find.ts';
import { seedFleet } from './fleet.ts';
import { seedLicenses } from './licenses.ts';
import { seedAdministration } from './administration.ts';
import { seedSales } from './sales.ts';
import { seedUsage } from './usage.ts';

/** Names and ids for paths, such as `licenseId`. */
export type World = Readonly<Record<string, string>>;

/** Creates the data of one area of the console, through use cases or SQL. */
export type Seed = (service: TestService) => Promise<World>;

/** One for each area, in this order. Add yours: `console/test/world/<area>.ts`. */
const SEEDS: readonly Seed[] = [
  seedFind,
  seedLicenses,
  seedAdministration,
  createAudience,
  seedSales,
  seedUsage,
  seedFleet,
];

/** Creates the data of every area. */
export async function createWorld(service: TestService): Promise<World> {
  const world: Record<string, string> = {};
  for (const seed of SEEDS) Object.assign(world, await seed(service));
  return world;
}
