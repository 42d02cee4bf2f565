import type { TSchema } from 'typebox';

import { listReferredSchemas } from './schema.ts';
import { buyerSchemas } from './buyers.ts';
import { WebhookResponse } from './billing.ts';
import { JwkSet, PublicJwk } from './entitlements.ts';
import { HTTPValidationError, Problem, ValidationError } from './errors.ts';
import { EventBatch, EventBatchResponse, EventIn } from './events.ts';
import {
  HealthCheck,
  HealthResponse,
  LiveResponse,
  ReadyResponse,
  RootResponse,
} from './health.ts';
import {
  CheckedLicense,
  LicenseActivate,
  LicenseActivateResponse,
  LicenseAirgapActivate,
  LicenseAirgapActivateResponse,
  LicenseCheckResponse,
  LicenseDeactivate,
  LicenseDeactivateResponse,
  LicenseValidate,
  LicenseValidateResponse,
  MachineInfo,
} from './licenses.ts';
import { OutreachRequest, OutreachResponse, OutreachResult, Recipient } from './outreach.ts';
import { SubscriberCreate, SubscriberResponse } from './subscribers.ts';
import { TrialStartRequest, TrialStartResponse } from './trial.ts';
import { HeartbeatRequest, HeartbeatResponse } from './usage.ts';

export * from './admin-audit.ts';
export * from './admin-credentials.ts';
export * from './admin-keys.ts';
export * from './admin-key-pools.ts';
export * from './admin-license-changes.ts';
export * from './admin-license-details.ts';
export * from './admin-license-import.ts';
export * from './admin-license-issue.ts';
export * from './admin-license-keys.ts';
export * from './admin-license-timeline.ts';
export * from './admin-licenses.ts';
export * from './admin-catalog.ts';
export * from './admin-health.ts';
export * from './admin-jobs.ts';
export * from './admin-customer-data.ts';
export * from './admin-customers.ts';
export * from './admin-fleet.ts';
export * from './admin-installs.ts';
export * from './admin-machines.ts';
export * from './admin-list.ts';
export * from './admin-operators.ts';
export * from './admin-mails.ts';
export * from './admin-payments.ts';
export * from './admin-payment-changes.ts';
export * from './admin-payment-repairs.ts';
export * from './admin-revenue.ts';
export * from './reported-money.ts';
export { type PaymentEventState } from './payment-fields.ts';
export * from './payment-providers.ts';
export * from './admin-passkeys.ts';
export * from './admin-outreach-compose.ts';
export * from './admin-outreach.ts';
export * from './admin-session.ts';
export * from './admin-sign-in-methods.ts';
export * from './constants.ts';
export * from './admin-webhooks.ts';
export * from './admin-webhook-deliveries.ts';
export * from './admin-subscribers.ts';
export * from './admin-events.ts';
export * from './admin-usage.ts';
export * from './admin-overview.ts';
export * from './admin-search.ts';
export * from './admin-trials.ts';
export * from './agent-brief.ts';
export * from './agent-gpu.ts';
export * from './agent-host.ts';
export * from './agent-network.ts';
export * from './agent-snapshot.ts';
export * from './agent-storage.ts';
export * from './agent-stream.ts';
export * from './billing.ts';
export * from './buyers.ts';
export * from './date-time.ts';
export * from './email.ts';
export * from './entitlements.ts';
export * from './errors.ts';
export * from './events.ts';
export * from './formats.ts';
export * from './health.ts';
export { MAX_MACHINES } from './license-fields.ts';
export * from './licenses.ts';
export * from './list-resource.ts';
export * from './operation.ts';
export * from './permissions.ts';
export type { Breakdown, BreakdownItem } from './report-fields.ts';
export * from './outreach.ts';
export * from './schema.ts';
export * from './subscribers.ts';
export * from './trial.ts';
export * from './usage.ts';
export * from './admin-outreach-report.ts';
export * from './outreach-content.ts';

/** Schemas that only routes refer to. */
const otherSchemas: readonly TSchema[] = [
  LicenseActivate,
  LicenseActivateResponse,
  LicenseAirgapActivate,
  LicenseAirgapActivateResponse,
  LicenseValidate,
  LicenseValidateResponse,
  LicenseDeactivate,
  LicenseDeactivateResponse,
  MachineInfo,
  CheckedLicense,
  LicenseCheckResponse,
  PublicJwk,
  JwkSet,
  TrialStartRequest,
  TrialStartResponse,
  HeartbeatRequest,
  HeartbeatResponse,
  SubscriberCreate,
  SubscriberResponse,
  Recipient,
  OutreachRequest,
  OutreachResult,
  OutreachResponse,
  EventIn,
  EventBatch,
  EventBatchResponse,
  WebhookResponse,
  ...buyerSchemas,
  HealthCheck,
  HealthResponse,
  ReadyResponse,
  LiveResponse,
  RootResponse,
  ValidationError,
  HTTPValidationError,
  Problem,
];

/** Every named schema of the interface. */
export const namedSchemas: readonly TSchema[] = [
  ...new Set([...otherSchemas, ...listReferredSchemas()]),
];
