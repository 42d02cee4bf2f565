// The doctor: checks an installed machine, and reports symptom, cause and fix of each problem.
import { checkAnswer, checkConfiguration, checkUnit, checkViewers } from './checks/agent.ts';
import {
  checkCertificate,
  checkClock,
  checkRenewal,
  checkRevocations,
} from './checks/certificate.ts';
import { checkDomain } from './checks/domain.ts';
import { checkFirewall } from './checks/firewall.ts';
import { checkOrigins } from './checks/origins.ts';
import { checkBindAddress, checkPorts } from './checks/ports.ts';
import {
  checkProxyCertificates,
  checkProxyHealth,
  checkProxyRoute,
  checkServerNames,
} from './checks/proxy.ts';
import { checkSelinux } from './checks/selinux.ts';
import type { Finding } from './finding.ts';
import type { Inspection } from './inspect/inspection.ts';

/** The checks, causes before their consequences. */
const CHECKS: readonly ((inspection: Inspection) => Finding)[] = [
  checkConfiguration,
  checkUnit,
  checkPorts,
  checkAnswer,
  checkBindAddress,
  checkCertificate,
  checkRenewal,
  checkRevocations,
  checkClock,
  checkDomain,
  checkFirewall,
  checkSelinux,
  checkServerNames,
  checkProxyHealth,
  checkProxyRoute,
  checkProxyCertificates,
  checkViewers,
  checkOrigins,
];

/** Runs all checks on an inspection. */
export function examine(inspection: Inspection): Finding[] {
  return CHECKS.map((check) => check(inspection));
}
