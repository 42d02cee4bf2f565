/** Feature: import licenses from other systems, list the imports, and undo them. */
import type { LicenseChangeDependencies } from '../licenses/dependencies.ts';

/** The dependencies of imports. */
export type ImportDependencies = LicenseChangeDependencies;
