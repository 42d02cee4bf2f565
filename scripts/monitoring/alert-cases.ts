/** When each alert of `deploy/prometheus/alerts.yml` fires, and when it does not. */
import type { AlertCase } from './alert-case.ts';
import { BUSINESS_CASES } from './business-cases.ts';
import { DATABASE_CASES } from './database-cases.ts';
import { SERVICE_CASES } from './service-cases.ts';

/** The alerts by name; they are tested from the time 0. */
export const ALERT_CASES: Readonly<Record<string, AlertCase>> = {
  ...SERVICE_CASES,
  ...DATABASE_CASES,
  ...BUSINESS_CASES,
};
