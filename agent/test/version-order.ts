/** Versions, oldest first, in the order of semver.org. */
export const VERSIONS: readonly string[] = [
  '0.9.10',
  '1.0.0-alpha',
  '1.0.0-alpha.1',
  '1.0.0-alpha.beta',
  '1.0.0-beta',
  '1.0.0-beta.2',
  '1.0.0-beta.11',
  '1.0.0-rc.1',
  '1.0.0',
  '1.0.9',
  '1.0.10',
  '1.2.0-rc-2.1',
  '1.2.0',
  '1.10.0',
  '2.0.0',
];

/** Pairs of versions that are equally old, or equal. */
export const EQUAL: readonly (readonly [string, string])[] = [
  ['1.0.0', '1.0.0'],
  ['1.0.0-rc.1', '1.0.0-rc.1'],
  ['1.0.0+build.1', '1.0.0+build.2'],
  ['1.0.0-rc.1+2026-11-28', '1.0.0-rc.1'],
];
