/** Writes the version of a release into every file that names it. `npm version` asks the registry for workspaces that depend on each other. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Type } from 'typebox';
import { Check } from 'typebox/value';

import { ReleaseError } from './release-error.ts';
import { readVersion, VERSION } from './version.ts';

/** The manifests of npm, in which workspaces name each other with their version. */
const NPM_MANIFESTS = [
  'package.json',
  'agent/package.json',
  'clients/typescript/package.json',
  'console/package.json',
  'contract/package.json',
  'server/package.json',
  'examples/electron-like/package.json',
];

/** What precedes the version in manifests and sources of the clients and the examples. */
const CLIENT_FILES: [string, RegExp][] = [
  ['clients/csharp/Latchkey.Client.csproj', /<Version>/],
  ['clients/csharp/src/Latchkey.cs', /const string Version = "/],
  ['clients/cpp/include/latchkey/latchkey.hpp', /std::string_view version = "/],
  ['clients/go/latchkey.go', /const Version = "/],
  ['clients/java/pom.xml', /<artifactId>[\w-]+<\/artifactId>\s+<version>/],
  ['clients/java/src/main/java/dev/latchkey/Latchkey.java', /String VERSION = "/],
  ['clients/python/src/latchkey_client/_version.py', /__version__ = "/],
  ['clients/rust/Cargo.toml', /name = "latchkey-client"\nversion = "/],
  ['clients/rust/Cargo.lock', /name = "latchkey-client"\nversion = "/],
  ['clients/swift/Sources/LatchkeyClient/Latchkey.swift', /static let version = "/],
  ['clients/typescript/src/version.ts', /VERSION = '/],
  ['examples/tauri/license/Cargo.lock', /name = "latchkey-client"\nversion = "/],
];

/** What precedes the version for CMake, which accepts only numbers: 1.1.0 of 1.1.0-rc.1. */
const CMAKE_FILES: [string, RegExp][] = [
  ['clients/cpp/CMakeLists.txt', /project\(latchkey VERSION /],
  ['clients/cpp/README.md', /find_package\(latchkey /],
];

/** What precedes the version in documents that name files of a release: `latchkey-agent_1.1.0_amd64.deb`. */
const DOCUMENTS: [string, RegExp][] = [
  'docs/README.md',
  'docs/operations/container.md',
  'docs/operations/install.md',
  'docs/operations/packages.md',
].map((name) => [name, /latchkey(?:-agent|-image)?[-_]/g]);

/**
 * Writes a version into manifests, package-lock.json, sources of clients, and documents.
 * @param root the repository
 * @throws ReleaseError when it is not a version, or a file does not contain the current one
 */
export async function setVersion(root: string, version: string): Promise<void> {
  if (!new RegExp(VERSION).test(version)) {
    throw new ReleaseError(`"${version}" is not a version: run npm run release:version -- 1.1.0.`);
  }
  const current = await readVersion(root);
  const own = `^(  "version": "|.*"@latchkey/[\\w-]+": ")${RegExp.escape(current)}"`;
  for (const name of NPM_MANIFESTS) {
    await replace(join(root, name), new RegExp(own, 'gm'), `$1${version}"`);
  }
  await replaceAfter(root, [...CLIENT_FILES, ...DOCUMENTS], current, version);
  await replaceAfter(root, CMAKE_FILES, toNumbers(current), toNumbers(version));
  await replaceLocked(join(root, 'package-lock.json'), version);
}

function toNumbers(version: string): string {
  return version.replace(/-.*/, '');
}

async function replaceAfter(
  root: string,
  places: readonly [string, RegExp][],
  current: string,
  version: string,
): Promise<void> {
  for (const [name, before] of places) {
    const pattern = new RegExp(`(${before.source})${RegExp.escape(current)}`, before.flags);
    await replace(join(root, name), pattern, `$1${version}`);
  }
}

async function replace(path: string, pattern: RegExp, replacement: string): Promise<void> {
  const text = await readFile(path, 'utf8');
  if (text.search(pattern) < 0) throw new ReleaseError(`${path} lacks the current version.`);
  await writeFile(path, text.replace(pattern, replacement));
}

const Lock = Type.Object({
  version: Type.String(),
  packages: Type.Record(
    Type.String(),
    Type.Object({
      version: Type.Optional(Type.String()),
      dependencies: Type.Optional(Type.Record(Type.String(), Type.String())),
    }),
  ),
});

/** The packages of the repository are those outside of `node_modules`. */
async function replaceLocked(path: string, version: string): Promise<void> {
  const lock: unknown = JSON.parse(await readFile(path, 'utf8'));
  if (!Check(Lock, lock)) throw new ReleaseError(`${path} is not a lock file that npm 11 wrote.`);
  lock.version = version;
  for (const [folder, locked] of Object.entries(lock.packages)) {
    if (folder.includes('node_modules/')) continue;
    locked.version = version;
    const { dependencies = {} } = locked;
    for (const name of Object.keys(dependencies)) {
      if (name.startsWith('@latchkey/')) dependencies[name] = version;
    }
  }
  await writeFile(path, `${JSON.stringify(lock, null, 2)}\n`);
}
