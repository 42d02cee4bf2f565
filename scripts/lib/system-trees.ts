import { findMissingBuildRequirement } from '../../agent/test/systems/requirements.ts';
import { buildTree, listMissingTrees, RELEASES } from '../../agent/test/systems/trees.ts';

/**
 * Builds the Debian trees that are missing, from which tests boot machines, and prints which.
 * @returns why they cannot be built here, with the fix; null when all trees are there
 */
export async function buildMissingTrees(): Promise<string | null> {
  const missing = listMissingTrees();
  const blocker = missing.length > 0 ? findMissingBuildRequirement() : null;
  if (blocker !== null) return blocker;
  for (const release of missing) {
    console.log(`Building the tree of ${RELEASES[release]}; it takes a minute or two.`);
    const startedAt = performance.now();
    await buildTree(release);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    console.log(`✔ ${RELEASES[release]}: ${seconds} s`);
  }
  return null;
}
