import {
  CurrentOperator,
  Done,
  OperatorLink,
  OperatorLinkRedeem,
  OperatorLinkRequest,
  OperatorPasswordChange,
  OperatorProof,
  OperatorRecoveryCodes,
  OperatorSession,
  OperatorSessions,
  OperatorSignIn,
  OperatorTotpCode,
  OperatorTotpSecret,
} from './admin-session.ts';
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

export * from './admin-session.ts';
export * from './agent-gpu.ts';
export * from './agent-host.ts';
export * from './agent-network.ts';
export * from './agent-snapshot.ts';
export * from './agent-storage.ts';
export * from './agent-stream.ts';
export * from './billing.ts';
export * from './date-time.ts';
export * from './email.ts';
export * from './entitlements.ts';
export * from './errors.ts';
export * from './events.ts';
export * from './formats.ts';
export * from './health.ts';
export * from './licenses.ts';
export * from './outreach.ts';
export * from './schema.ts';
export * from './subscribers.ts';
export * from './trial.ts';
export * from './usage.ts';

/** Every named schema of the interface, in the order of its documentation. */
export const namedSchemas = [
  LicenseActivate,
  LicenseActivateResponse,
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
  OperatorLinkRequest,
  OperatorLink,
  OperatorLinkRedeem,
  OperatorSignIn,
  OperatorProof,
  OperatorPasswordChange,
  CurrentOperator,
  OperatorSession,
  OperatorSessions,
  OperatorTotpSecret,
  OperatorTotpCode,
  OperatorRecoveryCodes,
  Done,
  HealthCheck,
  HealthResponse,
  ReadyResponse,
  LiveResponse,
  RootResponse,
  ValidationError,
  HTTPValidationError,
  Problem,
] as const;
