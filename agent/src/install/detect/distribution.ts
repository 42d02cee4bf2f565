import { join } from 'node:path';

import { readOsRelease } from '../../read/os-release.ts';
import type { HostFacts } from '../facts.ts';
import type { Detection } from './detection.ts';

/** Detects the distribution; fields that it does not name are empty. */
export function detectDistribution({ root }: Detection): HostFacts['distribution'] {
  const places = ['etc/os-release', 'usr/lib/os-release'];
  const release = readOsRelease(places.map((path) => join(root, '/', path)));
  const id = release.get('ID') ?? '';
  const name = release.get('PRETTY_NAME') || id;
  return { id, versionId: release.get('VERSION_ID') ?? '', name };
}
