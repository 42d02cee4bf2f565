/** The checks of `latchkey doctor`, for operators. */
import { runDoctor } from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { serveOperation } from '#server/http/serve-operation.ts';

import { Doctor, type DoctorDependencies } from './doctor.ts';

export function registerDoctorRoutes(app: App, deps: DoctorDependencies): void {
  const doctor = new Doctor(deps);
  serveOperation(app, runDoctor, () => doctor.examine(), OWN_SLOTS);
}
