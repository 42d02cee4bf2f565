import { checkAnswer, checkConfiguration, checkUnit, checkViewers } from './checks/agent.ts';
import {
  checkCertificate,
  checkClock,
  checkRenewal,
  checkRevocations,
} from './checks/certificate.ts';
import { checkDomain, checkFirewall } from './checks/domain.ts';
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

/** In the order in which an administrator checks: what comes first is often the cause of what comes later. */
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
];

/** What each check says of a machine. */
export function examine(inspection: Inspection): Finding[] {
  return CHECKS.map((check) => check(inspection));
}
