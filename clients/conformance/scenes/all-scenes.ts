import type { Theme } from '../play/scene.ts';
import { ACTIVATION } from './activation.ts';
import { AIRGAP } from './airgap.ts';
import { CLOCK } from './clock.ts';
import { DEACTIVATION } from './deactivation.ts';
import { FILES } from './files.ts';
import { MACHINES } from './machines.ts';
import { NETWORK } from './network.ts';
import { REFUSALS } from './refusals.ts';
import { SIGNING_KEYS } from './signing-keys.ts';
import { TRIALS } from './trial.ts';
import { VECTORS } from './vectors.ts';

/** Every scene, in the order of playing. */
export const THEMES: readonly Theme[] = [
  VECTORS,
  ACTIVATION,
  TRIALS,
  REFUSALS,
  NETWORK,
  CLOCK,
  SIGNING_KEYS,
  MACHINES,
  DEACTIVATION,
  FILES,
  AIRGAP,
];
