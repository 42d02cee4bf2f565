// The units of systemd that an installation writes.
import { dirname } from 'node:path';

import { agentUser, paths } from '../paths.ts';

/** The first line of our units. */
export const UNIT_NOTE = `# Written by latchkey-agent install, and anew by the next one: make changes with systemctl edit.`;

/**
 * Renders the agent's unit, which may read the whole machine and write only its socket. Restrictions are left out for these
 * reasons:
 * - the agent reads /proc of all processes, /sys and devices (nvidia-smi opens /dev/nvidia*; PrivateDevices= and ProtectClock=
 *   close all devices);
 * - a file system may be mounted in /home, so it is readable (ProtectHome=read-only);
 * - the host name may change (ProtectHostname= would keep the old one);
 * - vendors' GPU programs may need executable memory (MemoryDenyWriteExecute=).
 * @param nvidiaModprobe its path where NVIDIA's driver is installed: without a display nothing else creates /dev/nvidia*, and
 *   with NoNewPrivileges= the agent's nvidia-smi cannot
 */
export function renderServiceUnit(nvidiaModprobe: string | null): string {
  return `${UNIT_NOTE}
[Unit]
Description=Latchkey monitoring agent
Wants=network-online.target
After=network-online.target

[Service]
Type=notify
# Its messages to systemd are sent by a child, systemd-notify.
NotifyAccess=all
${renderNvidiaDevices(nvidiaModprobe)}ExecStart=${paths.command} run
ExecReload=${paths.command} reload
User=${agentUser}
Group=${agentUser}
RuntimeDirectory=latchkey-agent
Restart=on-failure
# Rarely enough for systemd never to stop retrying.
RestartSec=5
# A restart does not fix an invalid configuration. This applies to ExecStart= alone, so validate is not run before it.
RestartPreventExitStatus=78
WatchdogSec=60
# SIGKILL also ends a stopped process, and leaves no core dump, which would contain private keys and tokens.
WatchdogSignal=SIGKILL
TimeoutStartSec=30
TimeoutStopSec=10
MemoryMax=512M
TasksMax=128
LimitNOFILE=16384
UMask=0077

CapabilityBoundingSet=
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RemoveIPC=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
# Other system calls fail, and the program continues without them.
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`;
}

/** As root and outside of the unit's restrictions (+); a failure does not stop the agent (-). */
function renderNvidiaDevices(program: string | null): string {
  if (program === null) return '';
  return `# Creates /dev/nvidia* on machines without a display.
ExecStartPre=-+/bin/sh -c 'i=0; for gpu in /proc/driver/nvidia/gpus/*; do ${program} -c $$i; i=$$((i + 1)); done; ${program} -u'
`;
}

/** The services that load nftables rules: a load removes ours. */
const LOADERS = 'nftables.service netfilter-persistent.service iptables.service';

/**
 * Renders the unit that opens a port in nftables after each load of the machine's own rules. Its instance is the port, so that
 * each port is opened and closed alone.
 */
export function renderPortUnit(): string {
  return `${UNIT_NOTE}
[Unit]
Description=Open port %i in nftables for the Latchkey agent
After=${LOADERS}
PartOf=${LOADERS}
ReloadPropagatedFrom=${LOADERS}
ConditionPathExists=${paths.command}

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=${paths.command} open-port %i
ExecReload=${paths.command} open-port %i
CapabilityBoundingSet=CAP_NET_ADMIN
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
RestrictAddressFamilies=AF_UNIX AF_NETLINK

[Install]
WantedBy=multi-user.target
`;
}

/**
 * Renders the unit that renews the revocation list: no viewer is admitted with an outdated one. It runs as root, because only
 * root reads the authority's key, and keeps root's capabilities, because it makes systemd reload nginx.
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

/** Renders the weekly timer of the renewal, which catches up after the machine was off. */
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
