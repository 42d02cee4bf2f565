import { dirname } from 'node:path';

import { paths } from '../paths.ts';
import { UNIT_NOTE } from './service-unit.ts';

/**
 * Makes the list of revoked client certificates anew: one that is out of date lets nobody in. It runs as root, for only
 * root reads the authority's key, and it keeps root's capabilities, for it has systemd reload nginx.
 */
export function renderRevocationsUnit(): string {
  return `${UNIT_NOTE}
[Unit]
Description=Latchkey monitoring agent: renew the list of revoked client certificates

[Service]
Type=oneshot
ExecStart=${paths.command} client-cert refresh-list
UMask=0077
TimeoutStartSec=120

NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths=${paths.authority} ${dirname(paths.revocations)}
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateNetwork=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictAddressFamilies=AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
`;
}

/** Runs it each week, and at once after a time in which the machine was off. */
export function renderRevocationsTimer(): string {
  return `${UNIT_NOTE}
[Unit]
Description=Latchkey monitoring agent: renew the list of revoked client certificates each week

[Timer]
OnCalendar=weekly
RandomizedDelaySec=6h
Persistent=true

[Install]
WantedBy=timers.target
`;
}
