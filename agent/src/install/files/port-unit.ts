import { paths } from '../paths.ts';
import { UNIT_NOTE } from './service-unit.ts';

/** Whatever loads rules of nftables: they are gone when it loads its own anew. */
const LOADERS = 'nftables.service netfilter-persistent.service iptables.service';

/**
 * The unit that opens a port in nftables after each load of the machine's own rules. Its instance is the port, so that each
 * port is opened and closed by itself.
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
