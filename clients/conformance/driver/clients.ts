import { execFile, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { Type, type Static } from 'typebox';
import { Parse } from 'typebox/schema';

import { driverEnvironment, type DriverProgram } from './driver.ts';

const run = promisify(execFile);

const Words = Type.Array(Type.String(), { minItems: 1 });

const Names = Type.Array(Type.String());

const Test = Type.Object(
  { command: Words, needs: Type.Optional(Names) },
  { additionalProperties: false },
);

const Description = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z][a-z0-9-]*$' }),
    command: Words,
    build: Type.Optional(Words),
    tests: Type.Optional(Type.Array(Test)),
    needs: Names,
    linux_headers: Type.Optional(Names),
  },
  { additionalProperties: false },
);

/** A client of this repository: its folder, and its `conformance.json`. */
export interface ClientUnderTest extends Readonly<Static<typeof Description>> {
  readonly folder: string;
}

interface Needs {
  /** Programs that must be on the path. */
  readonly needs?: readonly string[];
  /** Headers that a C compiler must find, on Linux alone: other systems have the libraries, or find them elsewhere. */
  readonly linux_headers?: readonly string[];
}

/** The time for a compiler that has to fetch packages first. */
const BUILD_TIMEOUT_MS = 600_000;

/** Lists the clients below a folder, by name. */
export function listClients(folder: string): ClientUnderTest[] {
  return readdirSync(folder)
    .map((name) => join(folder, name, 'conformance.json'))
    .filter((path) => existsSync(path))
    .map((path) => ({
      ...Parse(Description, JSON.parse(readFileSync(path, 'utf8'))),
      folder: dirname(path),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns why a client, or one of its tests, cannot run here, such as "no go"; null if it can. */
export function findMissingNeed({ needs = [], linux_headers: headers = [] }: Needs): string | null {
  const program = needs.find((name) => !isOnPath(name));
  if (program !== undefined) return `no ${program}`;
  const header =
    process.platform === 'linux' ? headers.find((name) => !hasHeader(name)) : undefined;
  return header === undefined ? null : `no ${header}`;
}

function hasHeader(name: string): boolean {
  const compiler = ['cc', 'clang'].find(isOnPath) ?? 'cc';
  const args = ['-E', '-x', 'c', '-include', name, '/dev/null'];
  return spawnSync(compiler, args, { stdio: 'ignore' }).status === 0;
}

/**
 * Builds the driver of a client.
 * @param out an empty folder for what the build writes
 * @throws Error with the output of a build that failed
 */
export async function buildDriver(client: ClientUnderTest, out: string): Promise<DriverProgram> {
  const [program, ...args] = fillCommand(client.build ?? [], out);
  if (program !== undefined) {
    const options = { cwd: client.folder, env: driverEnvironment(), timeout: BUILD_TIMEOUT_MS };
    await run(program, args, options);
  }
  // Drivers in TypeScript are started hundreds of times.
  const environment = { NODE_COMPILE_CACHE: join(dirname(out), 'compile-cache') };
  return { command: fillCommand(client.command, out), folder: client.folder, environment };
}

/** Returns a command of a `conformance.json` with the folder for what it writes. */
export function fillCommand(words: readonly string[], out: string): string[] {
  return words.map((word) => word.replaceAll('{out}', out));
}

function isOnPath(name: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      // Not in this folder.
      return false;
    }
  });
}
