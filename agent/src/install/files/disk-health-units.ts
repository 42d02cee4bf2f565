import { basename } from 'node:path';

import { paths } from '../paths.ts';
import { UNIT_NOTE } from './units.ts';

/** The directories of disks and of readings, which tests replace. */
export interface DiskHealthPlaces {
  readonly sys: string;
  readonly dev: string;
  readonly output: string;
}

const PLACES: DiskHealthPlaces = {
  sys: '/sys/block',
  dev: '/dev',
  output: '/run/latchkey-agent-disks',
};

/** The arguments of smartctl are those of the agent's collector: a disk in standby is skipped, with status 7. */
const SMARTCTL_ARGS =
  '--json=c --quietmode=noserial --nocheck=standby,7 --info --health --attributes --log=error --log=selftest';

/**
 * A shell script that reads the health of each disk. For each disk it writes `sda.json` (the exit status of smartctl, then its
 * JSON), and `sda.stat` with the request counters of the disk after a successful reading; the agent reads both. A disk whose
 * counters are unchanged since then is skipped, because a SMART command may reset the timer by which it spins down. Its
 * reading is kept, and the modification time of `sda.stat` is when it was last confirmed.
 * @param smartctl the path of the program
 */
export function renderDiskHealthScript(
  smartctl: string,
  { sys, dev, output }: DiskHealthPlaces = PLACES,
): string {
  return [
    `cd ${output} || exit 1`,
    `for d in ${sys}/sd* ${sys}/hd* ${sys}/nvme*n*; do n=\${d##*/}`,
    `[ -e ${dev}/$n ] || continue`,
    'if [ -s $n.stat ] && [ "$(cat $d/stat)" = "$(cat $n.stat)" ]; then touch $n.stat; continue; fi',
    `o=$(timeout 30 ${smartctl} ${SMARTCTL_ARGS} ${dev}/$n)`,
    's=$?',
    'printf "%s\\n%s\\n" $s "$o" >.new && mv -f .new $n.json',
    // Bits 0 and 1 mean that the disk was not read, 124 that smartctl was ended.
    'if [ $((s & 3)) -eq 0 ] && [ $s -ne 124 ]; then cat $d/stat >$n.stat; else rm -f $n.stat; fi',
    'done',
  ].join('; ');
}

/**
 * Renders the unit that reads the health of disks as root, so that the agent, which accepts connections, needs no access to
 * disks. It has no network, opens disks only, and writes its own directory in /run.
 * @param smartctl the path of the program
 */
export function renderDiskHealthUnit(smartctl: string): string {
  const command = renderDiskHealthScript(smartctl).replaceAll('$', '$$$$').replaceAll('%', '%%');
  return `${UNIT_NOTE}
[Unit]
Description=Latchkey monitoring agent: read the health of disks (SMART)
ConditionFileIsExecutable=${smartctl}

[Service]
Type=oneshot
ExecStart=/bin/sh -c '${command}'
RuntimeDirectory=latchkey-agent-disks
RuntimeDirectoryMode=0755
RuntimeDirectoryPreserve=yes
UMask=0022
Nice=10
TimeoutStartSec=1800

# Commands of ATA and SCSI need CAP_SYS_RAWIO, those of NVMe CAP_SYS_ADMIN.
CapabilityBoundingSet=CAP_SYS_RAWIO CAP_SYS_ADMIN
DevicePolicy=closed
# smartctl opens disks of SCSI and ATA for reading and writing.
DeviceAllow=block-sd rw
DeviceAllow=block-blkext r
DeviceAllow=char-nvme r
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateNetwork=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectClock=yes
ProtectHostname=yes
RestrictAddressFamilies=AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
`;
}

/** Renders the timer of every half hour; the agent hides readings older than three hours. */
export function renderDiskHealthTimer(): string {
  return `${UNIT_NOTE}
[Unit]
Description=Latchkey monitoring agent: read the health of disks each half hour

[Timer]
OnActiveSec=30s
OnBootSec=1min
OnUnitActiveSec=30min

[Install]
WantedBy=timers.target
`;
}

export const DISK_HEALTH_TIMER = basename(paths.diskHealthTimer);
