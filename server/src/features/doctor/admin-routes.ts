/** The checks of `latchkey doctor`, for operators. */
import { DoctorReport, ref } from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { VIEWER } from '#server/http/require-operator.ts';

import { Doctor, type DoctorDependencies } from './doctor.ts';

/** Every role may run it: it changes nothing. */
export function registerDoctorRoutes(app: App, deps: DoctorDependencies): void {
  const doctor = new Doctor(deps);
  app.post(
    '/api/v1/admin/doctor',
    { config: { ...VIEWER, ...OWN_SLOTS }, schema: doctorOperation },
    () => doctor.examine(),
  );
}

const doctorOperation = {
  operationId: 'runDoctor',
  tags: ['admin: health'],
  summary: 'Check the configuration, the machine and the database',
  description:
    'Runs the checks of `latchkey doctor` and changes nothing. Calls within ten seconds share one run.',
  response: { 200: ref(DoctorReport, 'What each check found.') },
} satisfies FastifySchema;
